import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link, useNavigate } from "react-router";
import type { ChangePoint, Trend } from "@/api/compare/types";
import type { Verdict } from "@/api/runs/types";
import { XyChart } from "@/charts/xy/xy-chart";
import { XyKey } from "@/charts/xy/xy-key";
import type { XyTick } from "@/charts/xy/xy-types";
import { formatChange, formatMeasure, shortCommit } from "@/lib/run-text";
import { timeTicks } from "@/lib/ticks";
import { formatDay, formatInstant, formatTick } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { Frame } from "@/ui/page/section";
import { Dim, Hint } from "@/ui/text/text";
import classes from "../compare.module.css";
import { runsPath, toUnit, wholeSecond } from "../model/run-links";
import {
  changeMarks,
  commitStep,
  groupLabel,
  type TrendAxis,
  trendLabel,
  trendLevels,
  trendOf,
  trendPlaces,
  trendPoints,
  versionMarks,
} from "../model/trend-points";
import { OpinionMark } from "../opinion-mark";

interface Props {
  readonly trend: Trend;
  readonly stale: boolean;
  readonly axis: TrendAxis;
  /** The group of runs that is chosen; all of them for null. */
  readonly group: string | null;
  /** Scenario version of each run. */
  readonly versions: ReadonlyMap<string, string>;
}

export function TrendView({ trend, stale, axis, group, versions }: Props) {
  const { t } = useTranslation();
  const shown = useMemo(() => (group === null ? trend : trendOf(trend, group)), [trend, group]);
  const looks = new Set(shown.points.map(({ verdict }) => verdict));
  const { changes } = shown;
  return (
    <div className={classes.body} aria-busy={stale}>
      {trend.remark === "too-few-runs" && (
        <Hint>{t("compare.trendTooFew", { count: Math.max(...trend.series.map(({ runs }) => runs)) })}</Hint>
      )}
      <TrendChart trend={shown} {...{ axis, versions }} />
      <XyKey
        items={[
          { look: "plain" as const, label: t("compare.keyRun") },
          ...(looks.has("failed") ? [{ look: "bad" as const, label: t("runs.verdict_failed") }] : []),
          ...(looks.has("invalid") ? [{ look: "hollow" as const, label: t("runs.verdict_invalid") }] : []),
          ...(shown.points.some(({ is_baseline }) => is_baseline)
            ? [{ look: "plain" as const, ring: true, label: t("compare.keyBaseline") }]
            : []),
        ]}
      />
      {shown.series.length > 1 && <p className={classes.foot}>{t("compare.trendSeries")}</p>}
      <section aria-labelledby="trend-changes">
        <div className={classes.sectionHead}>
          <h2 id="trend-changes">{t("compare.changes")}</h2>
          <Dim>{t("compare.changesHint")}</Dim>
        </div>
        {changes.length === 0 ? (
          <p className={classes.foot}>{t("compare.noChanges")}</p>
        ) : (
          <ul className={classes.changes}>
            {changes.toReversed().map((change) => (
              <li key={change.run} className={classes.change}>
                <Change change={change} trend={trend} />
              </li>
            ))}
          </ul>
        )}
      </section>
    </div>
  );
}

interface ChartProps {
  /** Of all groups, or of one. */
  readonly trend: Trend;
  readonly axis: TrendAxis;
  readonly versions: ReadonlyMap<string, string>;
}

function TrendChart({ trend, axis, versions }: ChartProps) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { zone } = useView();
  const navigate = useNavigate();
  const [active, setActive] = useState<string | null>(null);
  const places = useMemo(() => trendPlaces(trend, axis), [trend, axis]);
  const points = useMemo(
    () =>
      trendPoints(trend, places, ({ name, run, series, started_ms, commit, branch, verdict, is_baseline }) => ({
        label: `${name || run} · ${formatInstant(wholeSecond(started_ms), zone, locale)}`,
        lines: [
          groupLabel(trend, series),
          [shortCommit(commit), branch].filter(Boolean).join(" · "),
          verdict === null ? "" : t(`runs.verdict_${verdict as Verdict}`),
          is_baseline ? t("compare.keyBaseline") : "",
        ].filter(Boolean),
      })),
    [trend, places, zone, locale, t],
  );
  const marks = useMemo(
    () => [
      ...changeMarks(trend.changes, places),
      ...(trend.scenario_version === null
        ? versionMarks(trend, versions, places, (version) => t("compare.versionMark", { version: version || "–" }))
        : []),
    ],
    [trend, versions, places, t],
  );
  const levels = useMemo(() => trendLevels(trend, places), [trend, places]);
  const ticks = useMemo((): readonly XyTick[] => {
    const last = trend.points.at(-1)?.started_ms ?? 0;
    const first = trend.points[0]?.started_ms ?? 0;
    if (axis === "order") {
      return trend.points.map((point, place) => ({
        value: places.get(point.run) ?? 0,
        label: trendLabel(trend, place, formatDay(point.started_ms, zone, locale)),
      }));
    }
    const { step, values } = timeTicks(first, last, 10, zone);
    return values.map((value) => ({ value, label: formatTick(value, step, zone, locale) }));
  }, [trend, axis, places, zone, locale]);
  const { metric } = trend;
  return (
    <Frame>
      <XyChart
        title={metric.title}
        unit={toUnit(metric.unit)}
        help={metric.help}
        points={points}
        ticks={ticks}
        marks={marks}
        levels={levels}
        height={340}
        tight
        active={active}
        onActive={setActive}
        onPick={(run) => void navigate(`/runs/${run}`)}
      />
    </Frame>
  );
}

/** A change of the level, with the group of runs that it is of where there are several. */
function Change({ change, trend }: { change: ChangePoint; trend: Trend }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { zone } = useView();
  const run = trend.points.find((point) => point.run === change.run);
  const commits = commitStep(change);
  const measure = (value: number) => formatMeasure(value, trend.metric.unit, locale);
  return (
    <>
      <div className={classes.changeHead}>
        <strong>{formatChange(change.change)}</strong>
        <span>
          {measure(change.before)} → {measure(change.after)}
        </span>
        <OpinionMark opinion={change.opinion} />
        {trend.series.length > 1 && <Dim>{groupLabel(trend, change.series)}</Dim>}
      </div>
      <p>{commits === "" ? t("compare.noCommits") : <code>{commits}</code>}</p>
      <Hint>
        {t("compare.changeSince", {
          run: run?.name || change.run,
          when: run === undefined ? "" : formatInstant(wholeSecond(run.started_ms), zone, locale),
        })}
      </Hint>
      <p>
        <Link className={classes.link} to={runsPath([change.previous_run, change.run])}>
          {t("compare.compareChange")}
        </Link>
      </p>
    </>
  );
}
