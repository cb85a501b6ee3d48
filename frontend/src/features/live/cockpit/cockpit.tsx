import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import type { Run } from "@/api/runs/types";
import { serverNow } from "@/api/server-clock";
import { runTitle } from "@/lib/run-text";
import { useNow } from "@/lib/time/use-now";
import { CommandLine } from "@/ui/command-line";
import { Icon } from "@/ui/icon";
import { StateMark } from "@/ui/state-mark";
import { FailingCell, FirstCell, LatencyCell, RateCell, StoredCell, TimeCell } from "./cells";
import classes from "./cockpit.module.css";
import { parametersOf } from "./figures";
import { TakeCpu } from "./take-cpu";
import type { Followed } from "./use-followed";

/**
 * The run under way in one line that stays in sight, or up to three of them; between runs the last one, in the same
 * room: nothing below moves as a run begins or ends.
 */
export function Cockpit({ runs, underWay, more, none }: Followed) {
  const { t } = useTranslation();
  const now = useNow(serverNow);
  return (
    <section
      className={classes.slot}
      aria-label={underWay ? t("cockpit.underWay") : t("cockpit.last")}
      data-under-way={underWay}
      data-runs={runs.length}
    >
      {none && (
        <div className={classes.empty}>
          <p>
            <strong>{t("cockpit.noRun")}</strong> <span className={classes.hint}>{t("cockpit.noRunHint")}</span>
          </p>
          <CommandLine text="loadwatch run --scenario checkout -- hey -z 60s http://127.0.0.1:8080/" />
        </div>
      )}
      {runs.length > 0 && (
        <ul className={classes.runs} aria-label={underWay ? t("cockpit.underWay") : t("cockpit.last")}>
          {runs.map((run) => (
            <li key={run.id} className={classes.run} data-run={run.id}>
              <RunName run={run} underWay={underWay} />
              <dl className={classes.cells}>
                <TimeCell run={run} nowMs={now} />
                <RateCell run={run} nowMs={now} />
                <LatencyCell run={run} />
                <FailingCell run={run} />
                <StoredCell run={run} />
                <FirstCell run={run} />
              </dl>
            </li>
          ))}
        </ul>
      )}
      {more > 0 && (
        <Link className={classes.more} to="/runs?state=running">
          {t("cockpit.more", { count: more })}
        </Link>
      )}
    </section>
  );
}

function RunName({ run, underWay }: { run: Run; underWay: boolean }) {
  const { t } = useTranslation();
  const parameters = parametersOf(run);
  const { verdict } = run;
  return (
    <div className={classes.name}>
      <p className={classes.title}>
        {underWay && <Icon name="play" size={13} />}
        <Link to={`/runs/${run.id}`} title={runTitle(run)}>
          {runTitle(run)}
        </Link>
        {run.silent && <StateMark tone="warn" label={t("cockpit.silent")} />}
        {underWay && !run.silent && <TakeCpu run={run.id} />}
        {!underWay && verdict !== null && (
          <StateMark
            tone={verdict === "passed" ? "ok" : verdict === "failed" ? "bad" : "warn"}
            label={t(`runs.verdict_${verdict}`)}
          />
        )}
      </p>
      <p className={classes.facts} title={parameters}>
        {!underWay && t("cockpit.last")}
        <span className={classes.parameters}>
          {!underWay && parameters !== "" && " · "}
          {parameters}
        </span>
      </p>
    </div>
  );
}
