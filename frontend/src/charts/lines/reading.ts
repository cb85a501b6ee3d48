/** What a chart says at one time: the values of all its series, and the bands and notes that lie there. Pure. */

import type { ChartBand, ChartNote, ChartSeries } from "@/charts/chart-types";
import { type Grid, lastSampleMs, nearestIndex, timeAt } from "@/lib/series/series";
import { coveringIndex } from "./period-path";

/** The newest sample that tells whether values stopped; what comes late by nature tells only where nothing else is. */
export function judgedSampleMs(grid: Grid, series: readonly ChartSeries[]): number | null {
  const prompt = series.filter(({ kind }) => kind !== "period" && kind !== "band");
  return lastSampleMs(grid, prompt) ?? lastSampleMs(grid, series);
}

/** What came by then may be of a sender with a sample each quarter of a minute. */
const ENDED_MS = 20_000;
const ENDED_STEPS = 5;

/** Whether a series stopped while others of its chart went on: its last value is none of now. */
export function hasEnded(grid: Grid, series: ChartSeries, newestMs: number | null, meanMs: number): boolean {
  if (newestMs === null || series.kind === "period" || series.kind === "band") return false;
  const last = lastSampleMs(grid, [series]);
  return last !== null && newestMs - last > Math.max(ENDED_MS, ENDED_STEPS * grid.stepMs, 2 * meanMs);
}

export interface ReadingRow {
  readonly series: ChartSeries;
  readonly slot: number;
  readonly value: number | null;
  /** Extrema of the bucket when the grid is reduced; equal to `value` otherwise. */
  readonly low: number | null;
  readonly high: number | null;
}

export interface Reading {
  readonly timeMs: number;
  /** Greatest value first, series without a value last. */
  readonly rows: readonly ReadingRow[];
  readonly bands: readonly ChartBand[];
  readonly notes: readonly ChartNote[];
}

export interface ReadingSource {
  readonly grid: Grid;
  readonly reduced: boolean;
  readonly series: readonly ChartSeries[];
  readonly slots: ReadonlyMap<string, number>;
  readonly bands: readonly ChartBand[];
  readonly notes: readonly ChartNote[];
}

/** Points per reading: a reduced grid is read by buckets of two. */
export function readingStride(source: Pick<ReadingSource, "reduced">): number {
  return source.reduced ? 2 : 1;
}

/** The nearest time at which the grid has a reading; null for an empty grid. */
export function snapTime(source: Pick<ReadingSource, "grid" | "reduced">, timeMs: number): number | null {
  const index = nearestIndex(source.grid, timeMs);
  if (index < 0) return null;
  return timeAt(source.grid, index - (index % readingStride(source)));
}

/** `reachMs`: how far a note at an instant may be from the time and still belong to it. */
export function readAt(source: ReadingSource, timeMs: number, reachMs: number): Reading | null {
  const { grid } = source;
  const nearest = nearestIndex(grid, timeMs);
  if (nearest < 0) return null;
  const stride = readingStride(source);
  const first = nearest - (nearest % stride);
  // Far from any point (the future of a live chart) nothing was measured: better no value than a stale one.
  const measured = Math.abs(timeAt(grid, nearest) - timeMs) <= stride * grid.stepMs;
  const rows = source.series.map((series, place): ReadingRow => {
    if (series.periodMs !== undefined && !source.reduced) {
      const index = coveringIndex(grid, series.values, series.periodMs, Math.min(timeMs, timeAt(grid, nearest)));
      const value = index === null ? null : (series.values[index] ?? null);
      const low = index === null || series.floor === undefined ? value : (series.floor[index] ?? null);
      return { series, slot: source.slots.get(series.id) ?? place, value, low, high: value };
    }
    let low: number | null = null;
    let high: number | null = null;
    for (let index = first; measured && index < first + stride; index += 1) {
      const value = series.values[index] ?? null;
      if (value === null) continue;
      const least = series.floor?.[index] ?? value;
      if (low === null || least < low) low = least;
      if (high === null || value > high) high = value;
    }
    return { series, slot: source.slots.get(series.id) ?? place, value: high, low, high };
  });
  rows.sort((a, b) => (b.value ?? Number.NEGATIVE_INFINITY) - (a.value ?? Number.NEGATIVE_INFINITY));
  const time = measured ? timeAt(grid, first) : timeMs;
  return {
    timeMs: time,
    rows,
    bands: source.bands.filter((band) => band.startMs <= time && time <= (band.endMs ?? Number.POSITIVE_INFINITY)),
    notes: source.notes.filter(
      (note) => note.startMs - reachMs <= time && time <= (note.endMs ?? note.startMs) + reachMs,
    ),
  };
}
