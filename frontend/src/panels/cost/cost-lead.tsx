import { useTranslation } from "react-i18next";
import type { Cost } from "@/api/runs/types";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import classes from "./cost.module.css";
import { callsText, leadingRoute } from "./model";

/** The sentence that says where the database's time went. */
export function CostLead({ cost }: { cost: Cost }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const route = leadingRoute(cost);
  if (route === null || route.calls === null) return null;
  return (
    <p className={classes.lead}>
      {t("cost.lead", {
        route: route.name,
        calls: callsText(route.calls.value),
        time: formatValue(route.database_seconds?.value, "seconds", locale),
        share: formatValue(route.share, "ratio", locale),
      })}
    </p>
  );
}
