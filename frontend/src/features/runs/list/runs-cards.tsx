import { Checkbox } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { runTitle } from "@/lib/run-text";
import { RunMark } from "@/panels/run/run-mark";
import { Card, Cards } from "@/ui/list/card";
import { Fact, Facts } from "@/ui/text/facts";
import { MOST_COMPARED } from "./list-state";
import { Commit, FirstLimit, Flags, P95, Parameters, Rate, RunTags, Started, Success } from "./run-cells";
import classes from "./runs-page.module.css";
import type { RowsProps } from "./runs-table";

/** The same lines for a narrow screen. */
export function RunsCards({ runs, hold, now, selected, onSelect, pathOf }: RowsProps) {
  const { t } = useTranslation();
  return (
    <Cards {...hold}>
      {runs.map((run) => {
        const title = runTitle(run);
        const chosen = selected.includes(run.id);
        return (
          <Card key={run.id} data-list-item={run.id} data-chosen={chosen}>
            <div className={classes.ends}>
              <Link className={classes.name} to={pathOf(run.id)} data-list-link="">
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
            <Facts look="columns">
              <Fact name={t("runs.column_rate")}>
                <Rate run={run} />
              </Fact>
              <Fact name={t("runs.column_success")}>
                <Success run={run} />
              </Fact>
              <Fact name={t("runs.column_p95")}>
                <P95 run={run} />
              </Fact>
            </Facts>
            <div className={classes.ends}>
              <div>
                <Started run={run} now={now} />
              </div>
              <div className={classes.cardLimit}>
                <FirstLimit run={run} />
              </div>
            </div>
            <div className={classes.cardLine}>
              <Parameters run={run} bare />
              {run.commit !== "" && <Commit run={run} />}
              {run.author !== "" && <span className={classes.sub}>{run.author}</span>}
              <RunTags tags={run.tags} />
            </div>
          </Card>
        );
      })}
    </Cards>
  );
}
