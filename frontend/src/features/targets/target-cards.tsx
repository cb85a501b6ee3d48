import { useTranslation } from "react-i18next";
import { useLocale } from "@/lib/use-locale";
import { useReasonText } from "@/ui/fault/reason";
import { Card, CardHead, Cards } from "@/ui/list/card";
import { StateMark } from "@/ui/state-mark";
import { Fact, Facts } from "@/ui/text/facts";
import { Hint } from "@/ui/text/text";
import { RemoveTarget } from "./remove-target";
import { figures, TONES } from "./target-figures";
import type { TargetRow } from "./target-rows";
import classes from "./targets-page.module.css";

/** The table's rows for a narrow screen. */
export function TargetCards({ rows }: { rows: readonly TargetRow[] }) {
  const { t } = useTranslation();
  const say = useReasonText();
  const locale = useLocale();
  return (
    <Cards>
      {rows.map((row) => {
        const text = figures(row, locale);
        return (
          <Card key={row.key} data-health={row.health}>
            <CardHead>
              <strong>{row.collector === "" ? t("targets.pushed") : row.collector}</strong>
              <StateMark tone={TONES[row.health]} label={t(`targets.state_${row.health}`)} />
            </CardHead>
            <Hint>
              {row.job} · {row.instance}
            </Hint>
            <Facts look="columns">
              <Fact name={t("targets.lag")}>{text.lag}</Fact>
              <Fact name={t("targets.duration")}>{text.duration}</Fact>
              <Fact name={t("targets.cost")}>{text.cpu}</Fact>
              <Fact name={t("targets.samples")}>{text.samples}</Fact>
            </Facts>
            {row.error !== null && <p className={classes.error}>{say(row.error)}</p>}
            <RemoveTarget row={row} />
            {row.agents.length > 1 && (
              <p className={classes.error}>{t("targets.overlap", { agents: row.agents.join(", ") })}</p>
            )}
          </Card>
        );
      })}
    </Cards>
  );
}
