import { Progress } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import type { Run } from "@/api/runs/types";
import { serverNow } from "@/api/server-clock";
import { formatCount, formatElapsed } from "@/lib/run-text";
import { formatDuration } from "@/lib/time/time";
import { useNow } from "@/lib/time/use-now";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { PageMessage } from "@/ui/page-message";
import { Dim, Hint } from "@/ui/text/text";
import classes from "./run-page.module.css";

/** How far a run under way is; the charts below grow with it. */
export function RunProgressPanel({ run }: { run: Run }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const now = useNow(serverNow);
  const { progress } = run;
  if (run.silent) {
    const last = progress?.at_ms ?? run.updated_ms;
    return (
      <PageMessage icon="offline" title={t("runs.page.silentTitle")}>
        <p>{t("runs.page.silentHint", { time: formatDuration(now - last, locale) })}</p>
      </PageMessage>
    );
  }
  const elapsed = Math.max(progress?.elapsed_seconds ?? 0, (now - run.started_ms) / 1000);
  const asked = run.target_duration_seconds ?? null;
  const share = asked === null || asked === 0 ? null : Math.min(1, elapsed / asked);
  return (
    <section className={classes.progress} aria-label={t("runs.page.progress")}>
      <div className={classes.progressFigures}>
        <strong>{formatElapsed(Math.floor(elapsed))}</strong>
        {asked !== null && <Dim>{t("runs.ofTarget", { target: formatElapsed(asked) })}</Dim>}
        {progress?.rate != null && <span>{formatValue(progress.rate, "per_second", locale)}</span>}
        {progress?.requests != null && <span>{t("runs.requests", { value: formatCount(progress.requests) })}</span>}
        {progress?.failures != null && (
          <span data-bad={progress.failures > 0}>
            {t("runs.page.failedSoFar", { value: formatCount(progress.failures) })}
          </span>
        )}
        <Link to="/">{t("runs.page.toLive")}</Link>
      </div>
      <Progress size="sm" value={(share ?? 1) * 100} animated={share === null} aria-label={t("runs.page.progress")} />
      <Hint>{t("runs.page.runningHint")}</Hint>
    </section>
  );
}
