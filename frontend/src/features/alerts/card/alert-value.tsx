import { useTranslation } from "react-i18next";
import type { Alert } from "@/api/alerts/types";
import { Sparkline } from "@/charts/bars/sparkline";
import { formatMeasure } from "@/lib/run-text";
import { useLocale } from "@/lib/use-locale";
import { Dim } from "@/ui/text/text";
import classes from "./alert-card.module.css";

const COMPARISONS: Readonly<Record<string, "above" | "from" | "below" | "upTo" | "at" | "not">> = {
  ...{ ">": "above", ">=": "from", "<": "below", "<=": "upTo", "==": "at", "!=": "not" },
};

/** The value against what it is compared with, and how it came to it over the last half hour; large without that. */
export function AlertValue({ alert, large = false }: { alert: Alert; large?: boolean }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const value = formatMeasure(alert.value, alert.unit, locale);
  const limit = alert.threshold === null ? null : formatMeasure(alert.threshold, alert.unit, locale);
  const drawn = !large && alert.sparkline.filter((one) => one !== null).length > 1;
  return (
    <div className={classes.value} data-old={alert.no_data} data-large={large}>
      <p className={classes.figures}>
        <strong>{value}</strong>
        {limit !== null && <Dim>{t(`alerts.against_${COMPARISONS[alert.comparison] ?? "limit"}`, { limit })}</Dim>}
      </p>
      {drawn && (
        <Sparkline
          values={alert.sparkline}
          width={168}
          height={32}
          {...(alert.threshold !== null && alert.threshold > 0 && { bound: alert.threshold })}
          label={t("alerts.sparkline", { value })}
        />
      )}
    </div>
  );
}
