import { useTranslation } from "react-i18next";
import type { Cost, RunRoutes, RunStatements } from "@/api/runs/types";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import classes from "./cost.module.css";
import { callsText, isSaid, LEAST_COVERAGE, missing, unexplained, untold } from "./model";

const TOGETHER_SHOWN = 3;
const GONE_SHOWN = 10;

interface CostNotesProps {
  readonly cost: Cost;
  readonly routes: RunRoutes | undefined;
  readonly statements: RunStatements | undefined;
}

/** What the figures stand on, and what could not be told. */
export function CostNotes({ cost, routes, statements }: CostNotesProps) {
  const { t } = useTranslation();
  const locale = useLocale();
  const ratio = (value: number) => formatValue(value, "ratio", locale);
  const rest = unexplained(cost);
  const reason = untold(cost, routes);
  const texts = new Map(cost.statements.map((one) => [one.id, one.text]));
  const together = cost.together.filter(({ share }) => share >= 0.01).slice(0, TOGETHER_SHOWN);
  return (
    <ul className={classes.notes}>
      {reason !== null && !isSaid(reason, routes, statements) && (
        <li data-warns="true">{t(`cost.reason_${reason}`)}</li>
      )}
      {missing(cost, routes, statements).map((remark) => (
        <li key={remark}>{remark}</li>
      ))}
      <StatementNotes cost={cost} statements={statements} />
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

/** How much of all that was executed the statements are, and whose requests they are divided by. */
function StatementNotes({ cost, statements }: Omit<CostNotesProps, "routes">) {
  const { t } = useTranslation();
  const locale = useLocale();
  const covered = statements?.coverage ?? cost.coverage;
  const share = formatValue(covered, "ratio", locale);
  const low = covered !== null && covered < LEAST_COVERAGE;
  if (statements === undefined || statements.statements.length === 0) {
    return low && <li data-warns="true">{t("cost.coverage", { share })}</li>;
  }
  // Below the functions the same stands already.
  const said = statements.requests_by === "routes" && cost.functions?.requests_by === "routes";
  const divided = !said && statements.statements.some((one) => one.calls_per_request !== null);
  return (
    <>
      {covered !== null && !low && <li>{t("cost.covered", { share })}</li>}
      {statements.remarks.map((remark, place) => (
        <li key={remark} data-warns={(low && place === 0) || undefined}>
          {remark}
        </li>
      ))}
      {divided && statements.requests_by !== null && <li>{t(`cost.requests_${statements.requests_by}`)}</li>}
    </>
  );
}

function clipped(text: string): string {
  return text.length > 120 ? `${text.slice(0, 119)}…` : text;
}
