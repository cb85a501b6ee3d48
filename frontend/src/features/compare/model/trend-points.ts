/** A trend as a chart: runs one by one or by time, levels, change points and versions. Pure. */
import type { ChangePoint, Trend } from "@/api/compare/types";
import type { XyLevel, XyMark, XyPoint } from "@/charts/xy/xy-types";
import { formatChange, shortCommit } from "@/lib/run-text";
import { verdictLook } from "./sweep-points";

export type TrendAxis = "order" | "time";

/** Place of each run on the axis. */
export function trendPlaces({ points }: Trend, axis: TrendAxis): ReadonlyMap<string, number> {
  return new Map(points.map(({ run, started_ms }, place) => [run, axis === "time" ? started_ms : place + 1]));
}

/** What of a trend one group of runs tells: those of one tool, target rate and set of parameters. */
export function trendOf(trend: Trend, id: string): Trend {
  return {
    ...trend,
    series: trend.series.filter((one) => one.id === id),
    points: trend.points.filter(({ series }) => series === id),
    changes: trend.changes.filter(({ series }) => series === id),
  };
}

/** Parameters, tool and rate of a group of runs, as far as they tell it from the others. */
export function groupLabel({ series }: Trend, id: string): string {
  return series.find((one) => one.id === id)?.label ?? "";
}

const NAME_LENGTH = 16;

/** Two lines below a run: what it is called, else its day; then what is other than in the run before, else its commit. */
export function trendLabel(trend: Trend, place: number, day: string): string {
  const { name = "", commit = "", series = "" } = trend.points[place] ?? {};
  const changed = trend.series.length > 1 && trend.points[place - 1]?.series !== series;
  return `${short(name) || day}\n${(changed && short(groupLabel(trend, series))) || shortCommit(commit) || "–"}`;
}

const short = (text: string) => (text.length > NAME_LENGTH ? `${text.slice(0, NAME_LENGTH - 1)}…` : text);

export function trendPoints(
  trend: Trend,
  places: ReadonlyMap<string, number>,
  describe: (point: Trend["points"][number]) => { readonly label: string; readonly lines: readonly string[] },
): readonly XyPoint[] {
  return trend.points.map((point) => ({
    id: point.run,
    x: places.get(point.run) ?? 0,
    y: point.value,
    look: verdictLook(point.verdict),
    ring: point.is_baseline,
    ...describe(point),
  }));
}

const TONES = { better: "better", worse: "worse", same: "neutral", unclear: "neutral", neutral: "neutral" } as const;

/** `abc1234 → def5678`; empty when neither run tells its commit. */
export function commitStep({ previous_commit, commit }: ChangePoint): string {
  if (previous_commit === "" && commit === "") return "";
  return `${shortCommit(previous_commit) || "?"} → ${shortCommit(commit) || "?"}`;
}

/** A line between the last run of the old level and the first of the new one. */
export function changeMarks(changes: readonly ChangePoint[], places: ReadonlyMap<string, number>): readonly XyMark[] {
  return changes.map((change) => ({
    id: change.run,
    x: ((places.get(change.previous_run) ?? 0) + (places.get(change.run) ?? 0)) / 2,
    label: [formatChange(change.change), commitStep(change)].filter(Boolean).join("  "),
    tone: TONES[change.opinion],
  }));
}

/** A mark where the scenario's version differs from that of the run before. */
export function versionMarks(
  { points }: Trend,
  versions: ReadonlyMap<string, string>,
  places: ReadonlyMap<string, number>,
  label: (version: string) => string,
): readonly XyMark[] {
  return points.flatMap(({ run }, place) => {
    const before = points[place - 1];
    const version = versions.get(run);
    if (before === undefined || version === undefined || version === versions.get(before.run)) return [];
    const x = ((places.get(before.run) ?? 0) + (places.get(run) ?? 0)) / 2;
    return [{ id: `version ${run}`, x, label: label(version), tone: "neutral" as const }];
  });
}

/** Mean levels of each series between its change points; none of one without a change. */
export function trendLevels(trend: Trend, places: ReadonlyMap<string, number>): readonly XyLevel[] {
  return trend.series.flatMap(({ id }) =>
    seriesLevels(
      trend.points.filter(({ series }) => series === id),
      trend.changes.filter(({ series }) => series === id),
      places,
    ),
  );
}

function seriesLevels(
  points: Trend["points"],
  changes: readonly ChangePoint[],
  places: ReadonlyMap<string, number>,
): readonly XyLevel[] {
  const first = points[0];
  const last = points.at(-1);
  if (first === undefined || last === undefined || changes.length === 0) return [];
  return [null, ...changes].map((change, place) => {
    const next = changes[place];
    return {
      from: places.get(change === null ? first.run : change.run) ?? 0,
      to: places.get(next === undefined ? last.run : next.previous_run) ?? 0,
      value: change === null ? (next?.before ?? 0) : change.after,
    };
  });
}
