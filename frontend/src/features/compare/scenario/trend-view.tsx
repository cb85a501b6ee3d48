import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link, useNavigate } from "react-router";
import type { ChangePoint, Trend } from "@/api/compare/types";
import type { Verdict } from "@/api/runs/types";
import { XyChart } from "@/charts/xy/xy-chart";
import { XyKey } from "@/charts/xy/xy-key";
import type { XyPoint, XyTick } from "@/charts/xy/xy-types";
import { formatChange, formatMeasure, shortCommit } from "@/lib/run-text";
import { timeTicks } from "@/lib/ticks";
import { formatDay, formatInstant, formatTick } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { Notice } from "@/ui/page/notice";
import { Frame } from "@/ui/page/section";
import { Dim, Hint } from "@/ui/text/text";
import classes from "../compare.module.css";
import { runsPath, toUnit, wholeSecond } from "../model/run-links";
import {
  changeMarks,
  commitStep,
  groupsShown,
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

/** More charts above each other tell no more; a group can be chosen. */
const MOST_GROUPS = 6;

export function TrendView({ trend, stale, axis, group, versions }: Props) {
  const { t } = useTranslation();
  const groups = useMemo(() => groupsShown(trend, group, MOST_GROUPS), [trend, group]);
  const shown = useMemo(() => groups.map(({ id }) => trendOf(trend, id)), [trend, groups]);
  const beside = useMemo(
    () => shown.flatMap((one) => trendPoints(one, NO_PLACES, () => ({ label: "", lines: [] }))),
    [shown],
  );
  const looks = new Set(trend.points.map(({ verdict }) => verdict));
  const changes = shown.flatMap((one) => one.changes);
  const left = trend.series.length - groups.length;
  return (
    <div className={classes.body} aria-busy={stale}>
      {trend.remark === "too-few-runs" && (
        <Notice role="status" framed>
          {t("compare.trendTooFew", { count: Math.max(...trend.series.map(({ runs }) => runs)) })}
        </Notice>
      )}
      <div className={classes.stack}>
        {shown.map((one) => (
          <TrendChart
            key={one.series[0]?.id}
            trend={one}
            several={trend.series.length > 1}
            {...{ axis, versions, beside }}
            height={shown.length > 1 ? 240 : 340}
          />
        ))}
      </div>
      <XyKey
        items={[
          { look: "plain" as const, label: t("compare.keyRun") },
          ...(looks.has("failed") ? [{ look: "bad" as const, label: t("compare.verdict_failed") }] : []),
          ...(looks.has("invalid") ? [{ look: "hollow" as const, label: t("compare.verdict_invalid") }] : []),
          ...(trend.points.some(({ is_baseline }) => is_baseline)
            ? [{ look: "plain" as const, ring: true, label: t("compare.keyBaseline") }]
            : []),
        ]}
      />
      {trend.series.length > 1 && (
        <p className={classes.foot}>
          {t("compare.trendSeries", { count: trend.series.length })}
          {left > 0 && group === null && ` ${t("compare.trendLeft", { count: left })}`}
        </p>
      )}
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

const NO_PLACES: ReadonlyMap<string, number> = new Map();

interface ChartProps {
  /** Of one group. */
  readonly trend: Trend;
  readonly several: boolean;
  readonly axis: TrendAxis;
  readonly versions: ReadonlyMap<string, string>;
  /** Points of all charts, which have one scale. */
  readonly beside: readonly XyPoint[];
  readonly height: number;
}

function TrendChart({ trend, several, axis, versions, beside, height }: ChartProps) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { zone } = useView();
  const navigate = useNavigate();
  const [active, setActive] = useState<string | null>(null);
  const places = useMemo(() => trendPlaces(trend, axis), [trend, axis]);
  const points = useMemo(
    () =>
      trendPoints(trend, places, ({ name, run, started_ms, commit, branch, verdict, is_baseline }) => ({
        label: `${name || run} · ${formatInstant(wholeSecond(started_ms), zone, locale)}`,
        lines: [
          [shortCommit(commit), branch].filter(Boolean).join(" · "),
          verdict === null ? "" : t(`compare.verdict_${verdict as Verdict}`),
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
      return trend.points.map((point) => ({
        value: places.get(point.run) ?? 0,
        label: trendLabel(point, formatDay(point.started_ms, zone, locale)),
      }));
    }
    const { step, values } = timeTicks(first, last, 10, zone);
    return values.map((value) => ({ value, label: formatTick(value, step, zone, locale) }));
  }, [trend.points, axis, places, zone, locale]);
  const { metric } = trend;
  const label = trend.series[0]?.label || t("compare.noParameters");
  return (
    <Frame>
      <XyChart
        title={several ? `${metric.title} · ${label}` : metric.title}
        unit={toUnit(metric.unit)}
        help={metric.help}
        points={points}
        ticks={ticks}
        marks={marks}
        levels={levels}
        height={height}
        beside={beside}
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
        {trend.series.length > 1 && <Dim>{trend.series.find(({ id }) => id === change.series)?.label}</Dim>}
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
