import { useTranslation } from "react-i18next";
import type { Cost, RunRoutes } from "@/api/runs/types";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import classes from "./cost.module.css";
import { callsText, LEAST_COVERAGE, unexplained, untold } from "./model";

const TOGETHER_SHOWN = 3;
const GONE_SHOWN = 10;

/** What the figures stand on, and what could not be told. */
export function CostNotes({ cost, routes }: { cost: Cost; routes: RunRoutes | undefined }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const ratio = (value: number) => formatValue(value, "ratio", locale);
  const rest = unexplained(cost);
  const reason = untold(cost, routes);
  const texts = new Map(cost.statements.map((one) => [one.id, one.text]));
  const together = cost.together.filter(({ share }) => share >= 0.01).slice(0, TOGETHER_SHOWN);
  return (
    <ul className={classes.notes}>
      {reason !== null && <li data-warns="true">{t(`cost.reason_${reason}`)}</li>}
      {cost.coverage !== null && cost.coverage < LEAST_COVERAGE && (
        <li data-warns="true">{t("cost.coverage", { share: ratio(cost.coverage) })}</li>
      )}
      {routes !== undefined && routes.routes.length > 0 && (
        <>
          {routes.remarks.map((remark) => (
            <li key={remark}>{remark}</li>
          ))}
          {routes.rank_error !== null && <li>{t("cost.ranksWithin", { error: ratio(routes.rank_error) })}</li>}
          {routes.gone.length > 0 && <li>{t("cost.gone", { routes: routes.gone.slice(0, GONE_SHOWN).join(", ") })}</li>}
        </>
      )}
      {together.map((one) => (
        <li key={`${one.statement} ${one.routes.join(" ")}`}>
          {t("cost.together", {
            routes: one.routes.join(", "),
            statement: clipped(texts.get(one.statement) || one.statement),
            calls: callsText(one.calls.value),
            share: ratio(one.share),
          })}
        </li>
      ))}
      {rest !== null && <li>{t("cost.unexplained", { share: ratio(rest) })}</li>}
      {cost.routes_left_out > 0 && <li>{t("cost.routesLeftOut", { total: cost.routes_left_out })}</li>}
      {cost.statements_left_out > 0 && (
        <li>{t("cost.statementsLeftOut", { total: cost.statements_left_out, share: ratio(cost.left_out_share) })}</li>
      )}
      {cost.reason === null && (
        <li>
          {t("cost.method", { step: formatValue(cost.step_seconds, "seconds", locale), job: cost.counted_by })}
          {cost.late_seconds !== 0 &&
            ` ${t("cost.late", { time: formatValue(Math.abs(cost.late_seconds), "seconds", locale) })}`}
        </li>
      )}
      {cost.base !== null && <li>{t("cost.against", { run: cost.base.name })}</li>}
    </ul>
  );
}

function clipped(text: string): string {
  return text.length > 120 ? `${text.slice(0, 119)}…` : text;
}
