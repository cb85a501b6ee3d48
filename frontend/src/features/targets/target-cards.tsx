import { useTranslation } from "react-i18next";
import { useLocale } from "@/lib/use-locale";
import { StateMark } from "@/ui/state-mark";
import { figures, TONES } from "./target-figures";
import type { TargetRow } from "./target-rows";
import classes from "./targets-page.module.css";

/** The table's rows for a narrow screen. */
export function TargetCards({ rows }: { rows: readonly TargetRow[] }) {
  const { t } = useTranslation();
  const locale = useLocale();
  return (
    <ul className={classes.cards}>
      {rows.map((row) => {
        const text = figures(row, locale);
        return (
          <li key={row.key} className={classes.card} data-health={row.health}>
            <div className={classes.cardHead}>
              <strong>{row.collector === "" ? t("targets.pushed") : row.collector}</strong>
              <StateMark tone={TONES[row.health]} label={t(`targets.state_${row.health}`)} />
            </div>
            <p className={classes.dim}>
              {row.job} · {row.instance}
            </p>
            <dl className={classes.figures}>
              <Figure name={t("targets.lag")} value={text.lag} />
              <Figure name={t("targets.duration")} value={text.duration} />
              <Figure name={t("targets.cost")} value={text.cpu} />
              <Figure name={t("targets.samples")} value={text.samples} />
            </dl>
            {row.error !== null && <p className={classes.error}>{row.error}</p>}
            {row.agents.length > 1 && (
              <p className={classes.error}>{t("targets.overlap", { agents: row.agents.join(", ") })}</p>
            )}
          </li>
        );
      })}
    </ul>
  );
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
