import type { TFunction } from "i18next";
import { useTranslation } from "react-i18next";
import type { RunLine } from "@/api/runs/types";
import { Sparkline } from "@/charts/bars/sparkline";
import { formatCount, formatElapsed, formatSuccess, shortCommit } from "@/lib/run-text";
import { DAY, formatDuration, formatInstant, HOUR, type Locale, MINUTE } from "@/lib/time/time";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { Icon } from "@/ui/icon";
import { Badge, Tag, Tags } from "@/ui/text/tag";
import { Dim } from "@/ui/text/text";
import classes from "./runs-page.module.css";

/** Parts of a run's line that table and cards share. */

export function Started({ run, now }: { run: RunLine; now: number }) {
  const { t } = useTranslation();
  const { zone } = useView();
  const locale = useLocale();
  return (
    <>
      <span className={classes.main}>{ago(now - run.started_ms, t, locale)}</span>
      <time className={classes.sub} dateTime={new Date(run.started_ms).toISOString()}>
        {formatInstant(Math.floor(run.started_ms / 1000) * 1000, zone, locale)}
      </time>
    </>
  );
}

/** Minutes, then hours, then whole days: what is finer in a list only flickers. */
export function ago(spanMs: number, t: TFunction, locale: Locale): string {
  if (spanMs < MINUTE) return t("runs.justNow");
  const grain = spanMs < HOUR ? MINUTE : spanMs < DAY ? 1 : DAY;
  const rounded = Math.floor(spanMs / grain) * grain;
  return t("runs.ago", { time: formatDuration(rounded, locale) });
}

export function Rate({ run }: { run: RunLine }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const target = run.target_rate ?? null;
  return (
    <>
      <span className={classes.main}>{formatValue(run.rate, "per_second", locale)}</span>
      {target !== null && (
        <span className={classes.sub}>{t("runs.ofTarget", { target: formatValue(target, "per_second", locale) })}</span>
      )}
    </>
  );
}

export function Success({ run }: { run: RunLine }) {
  const { t } = useTranslation();
  const bad = run.success_ratio !== null && run.success_ratio < 0.99;
  return (
    <>
      <span className={classes.main} data-bad={bad}>
        {bad && <Icon name="warning" size={11} />} {formatSuccess(run.success_ratio)}
      </span>
      {run.requests !== null && (
        <span className={classes.sub}>{t("runs.requests", { value: formatCount(run.requests) })}</span>
      )}
    </>
  );
}

/** p95 of the whole run, and its course. */
export function P95({ run }: { run: RunLine }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const course = run.p95_sparkline;
  return (
    <span className={classes.figured}>
      <span className={classes.main}>{formatValue(run.p95_seconds, "seconds", locale)}</span>
      {course?.some((value) => value !== null) && (
        <span className={classes.spark}>
          <Sparkline values={course} width={72} height={22} label={t("runs.p95Sparkline")} />
        </span>
      )}
    </span>
  );
}

/** What ran out first as it is kept with the run; a dash says why there is nothing. */
export function FirstLimit({ run }: { run: RunLine }) {
  const { t } = useTranslation();
  const lang = useLocale();
  const limit = run.first_limit;
  if (limit?.state === "found" && limit.title != null) {
    const facts = [
      limit.after_seconds == null ? "" : t("runs.limitAt", { time: formatElapsed(limit.after_seconds) }),
      limit.certainty == null ? "" : t(`findings.certainty_${limit.certainty}`),
      limit.more > 0 ? t("runs.limitMore", { count: limit.more }) : "",
    ];
    return (
      <>
        <span className={classes.limit}>{limit.title[lang]}</span>
        <span className={classes.sub}>{facts.filter(Boolean).join(" · ")}</span>
      </>
    );
  }
  const why = limit === null ? (run.state === "running" ? "running" : "later") : limit.state;
  return (
    <span className={classes.limitNone}>
      – <Dim>{t(`runs.limit_${why === "found" ? "unknown" : why}`)}</Dim>
    </span>
  );
}

const MOST_PARAMETERS = 4;

/** The parameters as they were given; of many the first. */
export function Parameters({ run, bare = false }: { run: RunLine; bare?: boolean }) {
  const pairs = Object.entries(run.parameters);
  if (pairs.length === 0) return bare ? null : <span className={classes.sub}>–</span>;
  const shown = pairs.slice(0, MOST_PARAMETERS);
  return (
    <span className={classes.parameters} title={pairs.map(([name, value]) => `${name}=${value}`).join(" ")}>
      {shown.map(([name, value]) => (
        <span key={name}>
          <Dim>{name}=</Dim>
          {value}
        </span>
      ))}
      {pairs.length > shown.length && <Dim>+{pairs.length - shown.length}</Dim>}
    </span>
  );
}

export function Load({ run, width = 96 }: { run: RunLine; width?: number }) {
  const { t } = useTranslation();
  const drawn = run.sparkline.some((value) => value !== null);
  if (!drawn) return <span className={classes.sub}>–</span>;
  return (
    <span className={classes.spark}>
      <Sparkline values={run.sparkline} width={width} height={26} label={t("runs.sparkline")} />
    </span>
  );
}

export function Commit({ run }: { run: RunLine }) {
  const { t } = useTranslation();
  if (run.commit === "") return <span className={classes.sub}>–</span>;
  return (
    <>
      <span className={classes.main}>
        <code title={run.commit}>{shortCommit(run.commit)}</code>
        {run.dirty === true && (
          <>
            {" "}
            <Badge warns title={t("runs.dirtyHint")}>
              {t("runs.dirty")}
            </Badge>
          </>
        )}
      </span>
      {run.branch !== "" && <span className={classes.sub}>{run.branch}</span>}
    </>
  );
}

export function RunTags({ tags }: { tags: readonly string[] }) {
  if (tags.length === 0) return null;
  return (
    <Tags>
      {tags.map((tag) => (
        <li key={tag}>
          <Tag small>{tag}</Tag>
        </li>
      ))}
    </Tags>
  );
}

/** Baseline and reviewed, as icons with their words for whoever cannot see them. */
export function Flags({ run }: { run: RunLine }) {
  const { t } = useTranslation();
  return (
    <>
      {run.is_baseline && (
        <span className={classes.flag} title={t("runs.baselineHint")}>
          <Icon name="pin" size={12} />
          {t("runs.baseline")}
        </span>
      )}
      {run.reviewed && (
        <span className={classes.flag} title={t("runs.reviewedHint")}>
          <Icon name="note" size={12} />
          {t("runs.reviewed")}
        </span>
      )}
    </>
  );
}
