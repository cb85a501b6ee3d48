/** Stacked areas and the extent of what a chart shows. Pure. */

import type { ChartSeries } from "@/charts/chart-types";
import { type Grid, indexRange, type Values } from "@/lib/series/series";
import type { Range } from "@/lib/time/time";

/** A series with what its line is drawn at: `tops` are the values, or their sum with what lies below. */
export interface Layer {
  readonly series: ChartSeries;
  readonly tops: Values;
  /** Lower edge of a stacked area; null for the axis. */
  readonly bases: Values | null;
}

export function stackLayers(series: readonly ChartSeries[], count: number): readonly Layer[] {
  const sums = new Map<string, Values>();
  return series.map((one) => {
    if (one.stack === undefined) return { series: one, tops: one.values, bases: null };
    const bases = sums.get(one.stack) ?? null;
    const tops: (number | null)[] = [];
    const sum: number[] = [];
    for (let index = 0; index < count; index += 1) {
      const value = one.values[index] ?? null;
      const base = bases?.[index] ?? 0;
      tops.push(value === null ? null : value + base);
      sum.push((value ?? 0) + base);
    }
    sums.set(one.stack, sum);
    return { series: one, tops, bases };
  });
}

/** Least and greatest drawn value within the range; null when there is none. */
export function layersExtent(
  layers: readonly Layer[],
  grid: Grid,
  range: Range,
): { readonly min: number; readonly max: number } | null {
  const [from, to] = indexRange(grid, range.startMs, range.endMs);
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (const values of layers.flatMap(({ tops, series }) =>
    series.floor === undefined ? [tops] : [tops, series.floor],
  )) {
    for (let index = from; index < to; index += 1) {
      const value = values[index];
      if (value === null || value === undefined) continue;
      if (value < min) min = value;
      if (value > max) max = value;
    }
  }
  return min > max ? null : { min, max };
}
