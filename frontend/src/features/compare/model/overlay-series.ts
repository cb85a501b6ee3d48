/** Lines of the overlay: repeats of one group share colour and marker and differ by their dash. Pure. */
import type { CompareGroup, CompareSeries, Comparison } from "@/api/compare/types";
import type { ChartSeries } from "@/charts/chart-types";
import { PALETTE_SIZE } from "@/lib/series/palette-places";
import type { Grid } from "@/lib/series/series";
import type { Range } from "@/lib/time/time";
import type { Unit } from "@/lib/units";

export const LANES = ["rate", "ok_rate", "failures", "p50", "p95", "p99"] as const;
export type Lane = (typeof LANES)[number];

export const LANE_UNITS: Readonly<Record<Lane, Unit>> = {
  rate: "per_second",
  ok_rate: "per_second",
  failures: "per_second",
  p50: "seconds",
  p95: "seconds",
  p99: "seconds",
};

/** Place in the palette of each run. */
export function runSlots(groups: readonly CompareGroup[]): ReadonlyMap<string, number> {
  return new Map(
    groups.flatMap(({ runs }, group) =>
      runs.map((run, repeat): [string, number] => [run, (group % PALETTE_SIZE) + PALETTE_SIZE * repeat]),
    ),
  );
}

export function overlayGrid({ from_seconds, step_seconds, count }: Comparison): Grid {
  return { startMs: from_seconds * 1000, stepMs: step_seconds * 1000, count };
}

/** What the charts span: all of it, or the part that was zoomed to as far as it lies inside. */
export function overlayRange(grid: Grid, zoom: { readonly from: number; readonly to: number } | null): Range {
  const whole = { startMs: grid.startMs, endMs: grid.startMs + Math.max(1, grid.count - 1) * grid.stepMs };
  if (zoom === null) return whole;
  const startMs = Math.max(whole.startMs, zoom.from * 1000);
  const endMs = Math.min(whole.endMs, zoom.to * 1000);
  return endMs > startMs ? { startMs, endMs } : whole;
}

export function laneSeries(
  lane: Lane,
  series: readonly CompareSeries[],
  slots: ReadonlyMap<string, number>,
  names: ReadonlyMap<string, string>,
  hidden: readonly string[],
): readonly ChartSeries[] {
  return series
    .filter(({ run }) => !hidden.includes(run))
    .map((one) => ({
      id: one.run,
      name: names.get(one.run) ?? one.run,
      values: one[lane],
      slot: slots.get(one.run) ?? 0,
    }));
}

/** A run's name in legends: its group's, and which repeat it is. */
export function runNames(groups: readonly CompareGroup[]): ReadonlyMap<string, string> {
  return new Map(
    groups.flatMap(({ label, runs }) =>
      runs.map((run, place): [string, string] => [run, runs.length > 1 ? `${label} #${place + 1}` : label]),
    ),
  );
}
