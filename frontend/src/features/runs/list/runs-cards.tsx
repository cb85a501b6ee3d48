import { Checkbox } from "@mantine/core";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { runTitle } from "@/lib/run-text";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { MOST_COMPARED } from "../model/list-state";
import { Commit, Flags, Load, Rate, Started, Success, Tags } from "./run-cells";
import { RunMark } from "./run-mark";
import classes from "./runs-page.module.css";
import type { RowsProps } from "./runs-table";

/** The same lines for a narrow screen. */
export function RunsCards({ runs, now, selected, onSelect, pathOf }: RowsProps) {
  const { t } = useTranslation();
  const locale = useLocale();
  return (
    <ul className={classes.cards}>
      {runs.map((run) => {
        const title = runTitle(run);
        const chosen = selected.includes(run.id);
        return (
          <li key={run.id} className={classes.card} data-run={run.id} data-chosen={chosen}>
            <div className={classes.cardHead}>
              <Link className={classes.name} to={pathOf(run.id)} data-run-link="">
                {title}
              </Link>
              <Checkbox
                size="sm"
                aria-label={t("runs.selectRun", { run: title })}
                checked={chosen}
                disabled={!chosen && selected.length >= MOST_COMPARED}
                onChange={() => onSelect(run.id)}
              />
            </div>
            <div className={classes.cardLine}>
              <RunMark state={run.state} silent={run.silent} verdict={run.verdict} />
              <span className={classes.sub}>{[run.scenario, run.scenario_version].filter(Boolean).join(" · ")}</span>
              <Flags run={run} />
            </div>
            <dl className={classes.figures}>
              <Figure name={t("runs.column_rate")}>
                <Rate run={run} />
              </Figure>
              <Figure name={t("runs.column_success")}>
                <Success run={run} />
              </Figure>
              <Figure name={t("runs.column_p95")}>
                <span className={classes.main}>{formatValue(run.p95_seconds, "seconds", locale)}</span>
              </Figure>
            </dl>
            <div className={classes.cardFoot}>
              <div>
                <Started run={run} now={now} />
              </div>
              <Load run={run} width={110} />
            </div>
            <div className={classes.cardLine}>
              {run.commit !== "" && <Commit run={run} />}
              {run.author !== "" && <span className={classes.sub}>{run.author}</span>}
              <Tags tags={run.tags} />
            </div>
          </li>
        );
      })}
    </ul>
  );
}

function Figure({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
