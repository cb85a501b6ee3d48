/** An alert's value over time as charts take it. Pure. */
import type { Alert, AlertSeries, AlertTransition } from "@/api/alerts/types";
import type { Grid, Values } from "@/lib/series/series";
import { MINUTE, type Range } from "@/lib/time/time";
import type { Unit } from "@/lib/units";

export interface GriddedSeries {
  readonly grid: Grid;
  readonly values: Values;
}

const MOST_POINTS = 2000;

/** Times of any distance put on the grid of the shortest one; what lies between stays a gap. */
export function gridOf(series: Pick<AlertSeries, "times_ms" | "values">): GriddedSeries {
  const times = series.times_ms;
  const startMs = times[0] ?? 0;
  const endMs = times.at(-1) ?? startMs;
  let shortest = Number.POSITIVE_INFINITY;
  for (let place = 1; place < times.length; place += 1) {
    shortest = Math.min(shortest, Math.max(1, (times[place] ?? 0) - (times[place - 1] ?? 0)));
  }
  const stepMs = Number.isFinite(shortest) ? Math.max(shortest, Math.ceil((endMs - startMs) / MOST_POINTS)) : 1000;
  const count = times.length === 0 ? 0 : Math.round((endMs - startMs) / stepMs) + 1;
  const values: (number | null)[] = new Array<number | null>(count).fill(null);
  times.forEach((time, place) => {
    values[Math.round((time - startMs) / stepMs)] = series.values[place] ?? null;
  });
  return { grid: { startMs, stepMs, count }, values };
}

/** In steps, so that the axis stands still. */
const BEFORE = [5 * MINUTE, 15 * MINUTE] as const;
const MOST_BEFORE = 30 * MINUTE;

/** What the chart spans: the alert, and of the time before it so much that the beginning is no hair at the edge. */
export function chartRange(
  series: AlertSeries | undefined,
  alert: Pick<Alert, "active_ms" | "resolved_ms">,
  nowMs: number,
): Range {
  const endMs = series?.times_ms.at(-1) ?? alert.resolved_ms ?? nowMs;
  const known = series?.times_ms[0] ?? 0;
  const lasted = Math.max(0, endMs - alert.active_ms);
  const before = BEFORE.find((span) => lasted <= span) ?? MOST_BEFORE;
  const startMs = Math.min(Math.max(known, alert.active_ms - before), alert.active_ms);
  return { startMs, endMs: Math.max(endMs, alert.active_ms + 1000) };
}

/** Reasons that have words of their own on the page; any other is shown as the server writes it. */
const REASONS = [
  "recovered",
  "no-data",
  "data-back",
  "flapping",
  "steady",
  "dismissed",
  "rule-gone",
  "run-ended",
  "stopped-sending",
  "outlived-run",
  "joined",
  "acknowledged",
  "unacknowledged",
] as const;
export type KnownReason = (typeof REASONS)[number];

export function knownReason(reason: string): KnownReason | null {
  return REASONS.find((one) => one === reason) ?? null;
}

/** Whether a change moved the alert from one state to another, or told something else about it. */
export function movesState(transition: Pick<AlertTransition, "from_state" | "to_state">): boolean {
  return transition.from_state !== transition.to_state;
}

const UNITS: ReadonlySet<string> = new Set<Unit>([
  "seconds",
  "bytes",
  "ratio",
  "count",
  "per_second",
  "bytes_per_second",
]);

/** The unit for a chart's axis; one that is not ours is written as plain numbers. */
export function chartUnit(unit: string): Unit {
  return UNITS.has(unit) ? (unit as Unit) : "count";
}
