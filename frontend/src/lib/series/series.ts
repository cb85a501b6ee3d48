/** Values on one time grid, as the server answers them: merging, trimming, gaps and summaries. Pure. */

/** Time of `values[i]` is `startMs + i * stepMs` (milliseconds since the epoch, UTC). */
export interface Grid {
  readonly startMs: number;
  readonly stepMs: number;
  readonly count: number;
}

export type Values = readonly (number | null)[];

/** One line: `name` is the rendered legend, `null` in `values` a gap. */
export interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly values: Values;
}

export interface SignalResult {
  readonly signal: string;
  readonly series: readonly Series[];
  readonly error: { readonly code: string; readonly detail: string } | null;
  /** Time of the newest value of a signal that comes late, also where it lies before the range; null without any. */
  readonly newestMs?: number | null;
  /** Points after it may be short of requests that still wait; null where nothing is awaited. */
  readonly finalMs?: number | null;
  /** Each point is the mean of so much time before it; null where points are values of an instant. */
  readonly meanMs?: number | null;
}

/** What a page holds: one grid for all signals. Points at or after `completeMs` may still change. */
export interface Answer extends Grid {
  /** Each pair of neighbouring points holds the extrema of a bucket of `2 * stepMs`. */
  readonly reduced: boolean;
  readonly completeMs: number;
  readonly results: readonly SignalResult[];
}

/** The wire form of `POST /api/signals/query`. */
export interface WireAnswer {
  readonly start_ms: number;
  readonly step_ms: number;
  readonly count: number;
  readonly reduced: boolean;
  readonly complete_ms: number;
  readonly results: readonly {
    readonly signal: string;
    readonly series: readonly {
      readonly name: string;
      readonly labels?: Readonly<Record<string, string>>;
      readonly values: Values;
    }[];
    readonly error?: { readonly code: string; readonly detail: string } | null;
    readonly newest_ms?: number | null;
    readonly final_ms?: number | null;
    readonly mean_ms?: number | null;
  }[];
}

export interface Summary {
  readonly last: number | null;
  readonly min: number | null;
  readonly max: number | null;
  readonly mean: number | null;
}

export function answerFromWire(wire: WireAnswer): Answer {
  return {
    startMs: wire.start_ms,
    stepMs: wire.step_ms,
    count: wire.count,
    reduced: wire.reduced,
    completeMs: wire.complete_ms,
    results: wire.results.map((result) => ({
      signal: result.signal,
      series: result.series.map((one) => ({ name: one.name, labels: one.labels ?? {}, values: one.values })),
      error: result.error ?? null,
      newestMs: result.newest_ms ?? null,
      finalMs: result.final_ms ?? null,
      meanMs: result.mean_ms ?? null,
    })),
  };
}

export function timeAt(grid: Grid, index: number): number {
  return grid.startMs + index * grid.stepMs;
}

/** End of the grid: the time just after its last point's step. */
export function endOf(grid: Grid): number {
  return grid.startMs + grid.count * grid.stepMs;
}

/** Index of the point nearest to `timeMs`, within the grid; -1 for an empty grid. */
export function nearestIndex(grid: Grid, timeMs: number): number {
  if (grid.count === 0) return -1;
  return Math.min(grid.count - 1, Math.max(0, Math.round((timeMs - grid.startMs) / grid.stepMs)));
}

/** Stable identity of a series within its signal. */
export function seriesKey(series: Pick<Series, "name" | "labels">): string {
  const labels = Object.entries(series.labels).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `${series.name}${JSON.stringify(labels)}`;
}

/** Whether `next` continues `held`: same step and reduction, aligned, and no hole between the two. */
export function canMerge(held: Answer, next: Answer): boolean {
  return (
    held.stepMs === next.stepMs &&
    held.reduced === next.reduced &&
    held.count > 0 &&
    next.startMs >= held.startMs &&
    next.startMs <= endOf(held) &&
    (next.startMs - held.startMs) % held.stepMs === 0
  );
}

/**
 * Joins an incremental answer to the held one: where both have points, the increment's hold.
 * A series that the increment lacks gets gaps; a new one gets gaps in front. An increment that cannot be
 * joined (other step, other signals, hole between) replaces the held answer.
 */
export function mergeAnswer(held: Answer | null, next: Answer): Answer {
  if (held === null || !canMerge(held, next)) return next;
  const offset = (next.startMs - held.startMs) / held.stepMs;
  const count = offset + next.count;
  const heldBySignal = new Map(held.results.map((result) => [result.signal, result]));
  const results = next.results.map((result): SignalResult => {
    if (result.error !== null) return result;
    const former = heldBySignal.get(result.signal)?.series ?? [];
    return { ...result, series: mergeSeries(former, result.series, offset, next.count) };
  });
  return { ...next, startMs: held.startMs, count, results };
}

function mergeSeries(
  held: readonly Series[],
  next: readonly Series[],
  offset: number,
  added: number,
): readonly Series[] {
  const increments = new Map(next.map((series) => [seriesKey(series), series]));
  const merged = held.map((series): Series => {
    const key = seriesKey(series);
    const increment = increments.get(key);
    increments.delete(key);
    return { ...series, values: spliceValues(series.values, increment?.values, offset, added) };
  });
  for (const series of increments.values()) {
    merged.push({ ...series, values: spliceValues([], series.values, offset, added) });
  }
  return merged;
}

function spliceValues(held: Values, increment: Values | undefined, offset: number, added: number): Values {
  const values = held.slice(0, offset);
  while (values.length < offset) values.push(null);
  for (let index = 0; index < added; index += 1) values.push(increment?.[index] ?? null);
  return values;
}

/**
 * Drops the points before `startMs`, by whole pairs so that a reduced grid keeps its buckets, and the series that
 * have no value left.
 */
export function trimAnswer(answer: Answer, startMs: number): Answer {
  const pairs = Math.floor((startMs - answer.startMs) / (2 * answer.stepMs));
  const drop = Math.min(answer.count, Math.max(0, pairs * 2));
  if (drop === 0) return answer;
  const results = answer.results.map((result) => ({
    ...result,
    series: result.series
      .map((series) => ({ ...series, values: series.values.slice(drop) }))
      .filter((series) => series.values.some((value) => value !== null)),
  }));
  return { ...answer, startMs: answer.startMs + drop * answer.stepMs, count: answer.count - drop, results };
}

/** Time of the newest value of any of these series, or null when there is none. */
export function lastSampleMs(grid: Grid, series: readonly { readonly values: Values }[]): number | null {
  let newest = -1;
  for (const { values } of series) {
    for (let index = Math.min(grid.count, values.length) - 1; index > newest; index -= 1) {
      if (values[index] !== null) newest = index;
    }
  }
  return newest < 0 ? null : timeAt(grid, newest);
}

/** Last, least, greatest and mean value of the points from index `from` up to, without, `to`. */
export function summarize(values: Values, from = 0, to = values.length): Summary {
  let last: number | null = null;
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  let sum = 0;
  let count = 0;
  for (let index = Math.max(0, from); index < to; index += 1) {
    const value = values[index];
    if (value === null || value === undefined) continue;
    last = value;
    if (value < min) min = value;
    if (value > max) max = value;
    sum += value;
    count += 1;
  }
  if (count === 0) return { last: null, min: null, max: null, mean: null };
  return { last, min, max, mean: sum / count };
}

/** Indices `[from, to)` of the grid's points within `[startMs, endMs]`. */
export function indexRange(grid: Grid, startMs: number, endMs: number): readonly [number, number] {
  const from = Math.max(0, Math.ceil((startMs - grid.startMs) / grid.stepMs));
  const to = Math.min(grid.count, Math.floor((endMs - grid.startMs) / grid.stepMs) + 1);
  return [from, Math.max(from, to)];
}
