import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { runsInStateQuery } from "@/api/compare/queries";
import { runQuery } from "@/api/runs/queries";
import { serverNow } from "@/api/server-clock";
import { formatElapsed, runTitle } from "@/lib/run-text";
import { formatDuration } from "@/lib/time/time";
import { useNow } from "@/lib/time/use-now";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { Icon } from "@/ui/icon";
import { StateMark } from "@/ui/state-mark";
import classes from "./runs-under-way.module.css";

const LIST_MS = 3000;
const PROGRESS_MS = 2000;
const MOST_SHOWN = 3;

/** One line for each run under way: how long, how fast, how many failures, and the way to its page. */
export function RunsUnderWay() {
  const { t } = useTranslation();
  const list = useQuery({ ...runsInStateQuery("running", MOST_SHOWN + 1), refetchInterval: LIST_MS, retry: false });
  const running = list.data?.runs ?? [];
  if (running.length === 0) return null;
  return (
    <ul className={classes.runs} aria-label={t("live.runsUnderWay")}>
      {running.slice(0, MOST_SHOWN).map(({ id, name, scenario, started_ms, silent, target_rate }) => (
        <li key={id} className={classes.run}>
          <RunUnderWay
            id={id}
            title={runTitle({ id, name, scenario })}
            startedMs={started_ms}
            silent={silent}
            targetRate={target_rate}
          />
        </li>
      ))}
      {(list.data?.total ?? 0) > MOST_SHOWN && (
        <li className={classes.run}>
          <Link to="/runs?state=running">{t("live.moreRuns", { count: (list.data?.total ?? 0) - MOST_SHOWN })}</Link>
        </li>
      )}
    </ul>
  );
}

interface Props {
  readonly id: string;
  readonly title: string;
  readonly startedMs: number;
  readonly silent: boolean;
  readonly targetRate: number | null;
}

function RunUnderWay({ id, title, startedMs, silent, targetRate }: Props) {
  const { t } = useTranslation();
  const locale = useLocale();
  const run = useQuery({ ...runQuery(id), refetchInterval: PROGRESS_MS, retry: false });
  const now = useNow(serverNow);
  const progress = run.data?.progress ?? null;
  const sinceStart = Math.max(0, now - startedMs);
  const rate = progress?.rate ?? null;
  return (
    <>
      <Icon name="play" size={13} className={classes.icon ?? ""} />
      <strong className={classes.title}>{title}</strong>
      <span className={classes.figure} aria-label={t("live.runElapsed")} role="timer">
        {sinceStart < 86_400_000 ? formatElapsed(Math.floor(sinceStart / 1000)) : formatDuration(sinceStart, locale)}
      </span>
      {rate !== null && (
        <span className={classes.figure}>
          {targetRate === null
            ? formatValue(rate, "per_second", locale)
            : t("live.runRate", {
                rate: formatValue(rate, "per_second", locale),
                target: formatValue(targetRate, "per_second", locale),
              })}
        </span>
      )}
      {progress?.failures != null && (
        <span className={classes.figure} data-failing={progress.failures > 0}>
          {progress.failures > 0 && <Icon name="warning" size={12} />}
          {t("live.runFailures", { failures: formatValue(progress.failures, "count", locale) })}
        </span>
      )}
      {silent && <StateMark tone="warn" label={t("live.runSilent")} />}
      <Link to={`/runs/${id}`} className={classes.open}>
        {t("live.runOpen")}
      </Link>
    </>
  );
}
