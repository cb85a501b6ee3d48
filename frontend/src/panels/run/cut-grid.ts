/** Charts cut to a part of their time. Pure. */
import { type Grid, indexRange, timeAt, type Values } from "@/lib/series/series";
import type { Range } from "@/lib/time/time";

/** The part of a grid that a zoomed chart draws, a point more on each side so that lines reach its edges. */
export function cutGrid(grid: Grid, range: Range): { readonly grid: Grid; readonly cut: (values: Values) => Values } {
  const [first, last] = indexRange(grid, range.startMs, range.endMs);
  // By pairs: a reduced grid holds the extrema of a bucket in two neighbouring points.
  const from = Math.max(0, Math.floor((first - 1) / 2) * 2);
  const to = Math.min(grid.count, last + 2);
  return {
    grid: { startMs: timeAt(grid, from), stepMs: grid.stepMs, count: Math.max(0, to - from) },
    cut: (values) => values.slice(from, to),
  };
}
