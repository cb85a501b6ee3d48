/** Fetchers and query options of comparison, sweep, trend and meetings. Keys under "runs" follow changes of any run. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "@/api/client";
import type { RunState } from "@/api/runs/types";
import type { Align } from "./types";

type Lang = "en" | "ja";

export function metricsQuery(lang: Lang) {
  return queryOptions({
    queryKey: ["metrics", lang],
    queryFn: ({ signal }) => unwrap(api.GET("/api/metrics", { params: { query: { lang } }, signal })),
    staleTime: 5 * 60_000,
  });
}

/** 2 to 8 runs; the first one's group is the base. */
export function compareQuery(runs: readonly string[], align: Align, percentile: readonly string[], lang: Lang) {
  return queryOptions({
    queryKey: ["runs", "compare", runs, align, percentile, lang],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/compare", {
          params: { query: { run: [...runs], align, percentile: [...percentile], lang } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
    retry: false,
  });
}

export interface SweepAsk {
  readonly scenario: string;
  readonly version: string | null;
  readonly parameter: string;
  readonly first: string;
  readonly second: string;
}

export function sweepQuery({ scenario, version, parameter, first, second }: SweepAsk, lang: Lang) {
  const query = { scenario, parameter, first, second, lang, ...(version !== null && { scenario_version: version }) };
  return queryOptions({
    queryKey: ["runs", "sweep", query],
    queryFn: ({ signal }) => unwrap(api.GET("/api/sweep", { params: { query }, signal })),
    placeholderData: keepPreviousData,
    retry: false,
  });
}

export interface TrendAsk {
  readonly scenario: string;
  readonly version: string | null;
  readonly metric: string;
}

export function trendQuery({ scenario, version, metric }: TrendAsk, lang: Lang) {
  const query = { scenario, metric, lang, ...(version !== null && { scenario_version: version }) };
  return queryOptions({
    queryKey: ["runs", "trend", query],
    queryFn: ({ signal }) => unwrap(api.GET("/api/trend", { params: { query }, signal })),
    placeholderData: keepPreviousData,
    retry: false,
  });
}

/** What the runs of a scenario tell of its capacity; of its newest version for null. */
export function forecastQuery(scenario: string, version: string | null) {
  const query = { scenario, ...(version !== null && { scenario_version: version }) };
  return queryOptions({
    queryKey: ["runs", "forecast", query],
    queryFn: ({ signal }) => unwrap(api.GET("/api/forecasts", { params: { query }, signal })),
    placeholderData: keepPreviousData,
    retry: false,
  });
}

const MOST_RUNS = 500;

/** Runs to choose from, the newest first. */
export function runSearchQuery(words: string) {
  return queryOptions({
    queryKey: ["runs", "search", words],
    queryFn: ({ signal }) => unwrap(api.GET("/api/runs", { params: { query: { q: words, limit: 25 } }, signal })),
    placeholderData: keepPreviousData,
  });
}

/** The newest runs of a scenario, to learn its versions and parameters from. */
export function scenarioRunsQuery(scenario: string) {
  return queryOptions({
    queryKey: ["runs", "scenario", scenario],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/runs", { params: { query: { scenario, limit: MOST_RUNS } }, signal })),
  });
}

/** Runs that overlap a span, the newest first. */
export function runsBetweenQuery(startMs: number, endMs: number, limit: number) {
  return queryOptions({
    queryKey: ["runs", "between", startMs, endMs, limit],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/runs", { params: { query: { start_ms: startMs, end_ms: endMs, limit } }, signal })),
  });
}

export function runsInStateQuery(state: RunState, limit: number) {
  return queryOptions({
    queryKey: ["runs", "state", state, limit],
    queryFn: ({ signal }) => unwrap(api.GET("/api/runs", { params: { query: { state, limit } }, signal })),
  });
}

export const meetingQuery = queryOptions({
  queryKey: ["runs", "meeting"],
  queryFn: ({ signal }) => unwrap(api.GET("/api/meetings/next", { signal })),
});

export function endMeeting(attendees: readonly string[], scenario: string) {
  return unwrap(api.POST("/api/meetings", { body: { attendees: [...attendees], scenario } }));
}
