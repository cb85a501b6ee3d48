import { useTranslation } from "react-i18next";
import type { StatementPlan } from "@/api/runs/types";
import { formatCount } from "@/lib/run-text";
import { formatInstant } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { Disclosure } from "@/ui/text/disclosure";
import classes from "./cost.module.css";

/** How the database runs a statement, or why that is not known. */
export function Plan({ plan }: { plan: StatementPlan }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { zone } = useView();
  const time = formatInstant(plan.seen_ms, zone, locale);
  return (
    <Disclosure summary={t("cost.plan")}>
      {plan.reason !== null ? (
        <p>{t(`cost.plan_${plan.reason}`)}</p>
      ) : (
        <>
          <ol className={classes.steps}>
            {plan.steps.map((step, place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: steps have no other name than their place
              <li key={place}>
                <code>{[step.access, step.table, step.key].filter((part) => part !== null).join(" · ")}</code>{" "}
                {step.rows !== null && t("cost.planRows", { rows: formatCount(step.rows) })}
                {step.extra !== null && ` (${step.extra})`}
              </li>
            ))}
          </ol>
          {plan.left_out > 0 && <p>{t("cost.planLeftOut", { total: plan.left_out })}</p>}
          <p>{plan.example ? t("cost.planOf", { example: plan.example, time }) : t("cost.planGeneric", { time })}</p>
        </>
      )}
    </Disclosure>
  );
}
