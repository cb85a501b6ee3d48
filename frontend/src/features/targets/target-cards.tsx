import { useTranslation } from "react-i18next";
import { useLocale } from "@/lib/use-locale";
import card from "@/ui/list/card.module.css";
import { CardFigure } from "@/ui/list/card-figure";
import { StateMark } from "@/ui/state-mark";
import { figures, TONES } from "./target-figures";
import type { TargetRow } from "./target-rows";
import classes from "./targets-page.module.css";

/** The table's rows for a narrow screen. */
export function TargetCards({ rows }: { rows: readonly TargetRow[] }) {
  const { t } = useTranslation();
  const locale = useLocale();
  return (
    <ul className={card.cards}>
      {rows.map((row) => {
        const text = figures(row, locale);
        return (
          <li key={row.key} className={card.card} data-health={row.health}>
            <div className={card.head}>
              <strong>{row.collector === "" ? t("targets.pushed") : row.collector}</strong>
              <StateMark tone={TONES[row.health]} label={t(`targets.state_${row.health}`)} />
            </div>
            <p className={classes.dim}>
              {row.job} · {row.instance}
            </p>
            <dl className={card.figures}>
              <CardFigure name={t("targets.lag")}>{text.lag}</CardFigure>
              <CardFigure name={t("targets.duration")}>{text.duration}</CardFigure>
              <CardFigure name={t("targets.cost")}>{text.cpu}</CardFigure>
              <CardFigure name={t("targets.samples")}>{text.samples}</CardFigure>
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
