/** PromQL as the server answers it to every client of Prometheus' API. */
import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "@/api/client";
import { serverNow } from "@/api/server-clock";
import type { Grid } from "@/lib/series/series";
import { resolveRange, type TimeRange } from "@/lib/time/range";

export type Labels = Readonly<Record<string, string>>;
/** Seconds since the epoch, and the value as text: JSON has no NaN. */
export type Sample = readonly [number, string];

export interface Instant {
  readonly resultType: "vector" | "matrix" | "scalar" | "string";
  readonly result: readonly { readonly metric: Labels; readonly value?: Sample; readonly values?: readonly Sample[] }[];
}

export interface Ranged extends Grid {
  readonly result: readonly { readonly metric: Labels; readonly values: readonly Sample[] }[];
}

export const MOST_LINES = 100;
export const MOST_ROWS = 500;
const MOST_NAMES = "20000";
const NAMES_STALE_MS = 60_000;

const data = async <T>(answer: Promise<unknown>) => ((await answer) as { readonly data: T }).data;
const seconds = (ms: number) => String(ms / 1000);

async function askAt(query: string, timeMs: number, signal: AbortSignal): Promise<Instant> {
  const asked = { query, time: seconds(timeMs), limit: String(MOST_ROWS + 1) };
  const found = await data<Omit<Instant, "result"> & { readonly result: unknown }>(
    unwrap(api.GET("/prometheus/api/v1/query", { params: { query: asked }, signal })),
  );
  const single = found.resultType === "scalar" || found.resultType === "string";
  return { ...found, result: single ? [{ metric: {}, value: found.result as Sample }] : (found.result as []) };
}

const MOST_POINTS = 600;

/** `pausedAt` stands for now while the page is paused. */
export function rangeQuery(expression: string, range: TimeRange, pausedAt: number | null) {
  return queryOptions({
    queryKey: ["explore", "range", expression, range, pausedAt],
    queryFn: async ({ signal }): Promise<Ranged> => {
      const { start, end } = resolveRange(range, pausedAt ?? serverNow());
      const stepMs = 1000 * Math.ceil((end - start) / 1000 / MOST_POINTS);
      const startMs = Math.floor(start / stepMs) * stepMs;
      const endMs = Math.floor(end / stepMs) * stepMs;
      const query = { query: expression, start: seconds(startMs), end: seconds(endMs), step: seconds(stepMs) };
      const params = { query: { ...query, limit: String(MOST_LINES + 1) } };
      const answer = unwrap(api.GET("/prometheus/api/v1/query_range", { params, signal }));
      const { result } = await data<Pick<Ranged, "result">>(answer);
      return { startMs, stepMs, count: (endMs - startMs) / stepMs + 1, result };
    },
  });
}

/** At the end of the range. */
export function instantQuery(expression: string, range: TimeRange, pausedAt: number | null) {
  return queryOptions({
    queryKey: ["explore", "instant", expression, range, pausedAt],
    queryFn: ({ signal }) => askAt(expression, resolveRange(range, pausedAt ?? serverNow()).end, signal),
  });
}

/** How many series each of the questions finds, one after the other; null where one cannot be answered. */
export function countsQuery(questions: readonly string[], range: TimeRange, pausedAt: number | null) {
  return queryOptions({
    queryKey: ["explore", "counts", questions, range, pausedAt],
    queryFn: async ({ signal }) => {
      const timeMs = resolveRange(range, pausedAt ?? serverNow()).end;
      const counts: (number | null)[] = [];
      for (const question of questions) {
        const found = await askAt(question, timeMs, signal).catch((error: unknown) => {
          if (signal.aborted) throw error;
          return null;
        });
        counts.push(found === null ? null : Number(found.result[0]?.value?.[1] ?? 0));
      }
      return counts;
    },
  });
}

/** Number of series by metric, of those named. */
export function cardinalityQuery(names: readonly string[]) {
  return queryOptions({
    queryKey: ["explore", "cardinality", names],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, number>> => {
      const pattern = names.map((name) => name.replace(/[^\w:]/g, "\\$&")).join("|");
      const question = `count by (__name__) ({__name__=~${JSON.stringify(pattern)}})`;
      const { result } = await askAt(question, serverNow(), signal);
      return new Map(result.map(({ metric, value }) => [metric.__name__ ?? "", Number(value?.[1])]));
    },
    enabled: names.length > 0,
    staleTime: NAMES_STALE_MS,
  });
}

export interface MetricFacts {
  readonly type: string;
  readonly help: string;
}

export const metadataQuery = queryOptions({
  queryKey: ["explore", "metadata"],
  queryFn: ({ signal }) =>
    data<Record<string, MetricFacts[]>>(unwrap(api.GET("/prometheus/api/v1/metadata", { signal }))),
  staleTime: NAMES_STALE_MS,
});

/** Of series that `selector` selects, of all without one. */
export function labelNamesQuery(selector?: string) {
  const query = { limit: MOST_NAMES, ...(selector !== undefined && { "match[]": [selector] }) };
  return queryOptions({
    queryKey: ["explore", "labels", selector],
    queryFn: ({ signal }) =>
      data<string[]>(unwrap(api.GET("/prometheus/api/v1/labels", { params: { query }, signal }))),
    staleTime: NAMES_STALE_MS,
  });
}

export function labelValuesQuery(name: string, selector?: string) {
  const query = { limit: MOST_NAMES, ...(selector !== undefined && { "match[]": [selector] }) };
  const params = { path: { name }, query };
  return queryOptions({
    queryKey: ["explore", "values", name, selector],
    queryFn: ({ signal }) =>
      data<string[]>(unwrap(api.GET("/prometheus/api/v1/label/{name}/values", { params, signal }))),
    staleTime: NAMES_STALE_MS,
  });
}
