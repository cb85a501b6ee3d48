/** Fetchers and query options of runs, one per endpoint. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "@/api/client";
import { querySignals } from "@/api/queries";
import type { ReviewInput, Run, RunPatch, RunsAsk } from "./types";

export const RUNS_PER_PAGE = 50;

const path = (run: string) => ({ path: { run_id: run } });

/** Pages of the list; every key under "runs" follows from changes of any run. */
export function runsQuery(ask: RunsAsk) {
  return infiniteQueryOptions({
    queryKey: ["runs", "list", ask],
    queryFn: ({ pageParam, signal }) => {
      const query = { ...ask, limit: RUNS_PER_PAGE, offset: pageParam };
      return unwrap(api.GET("/api/runs", { params: { query }, signal }));
    },
    initialPageParam: 0,
    getNextPageParam: (last, pages) => {
      const held = pages.reduce((sum, page) => sum + page.runs.length, 0);
      return last.runs.length > 0 && held < last.total ? held : undefined;
    },
  });
}

/** Runs by any part of their names, the newest first, as many as a person looks through. */
export function foundRunsQuery(q: string) {
  return queryOptions({
    queryKey: ["runs", "found", q],
    queryFn: ({ signal }) => {
      const query = { q, sort: "started" as const, descending: true, limit: 6, offset: 0 };
      return unwrap(api.GET("/api/runs", { params: { query }, signal }));
    },
  });
}

export const runFacetsQuery = queryOptions({
  queryKey: ["runs", "facets"],
  queryFn: ({ signal }) => unwrap(api.GET("/api/runs/facets", { signal })),
});

/** The run that was begun last, as a list of one or none. */
export const lastRunQuery = queryOptions({
  queryKey: ["runs", "last"],
  queryFn: ({ signal }) => unwrap(api.GET("/api/runs", { params: { query: { limit: 1 } }, signal })),
});

export function runQuery(run: string) {
  return queryOptions({
    queryKey: ["runs", "one", run],
    // The client's types make lists of the schema's pairs (`errors`); the schema itself says what they are.
    queryFn: ({ signal }) => unwrap(api.GET("/api/runs/{run_id}", { params: path(run), signal })) as Promise<Run>,
  });
}

export function runSecondsQuery(run: string, maxPoints: number) {
  return queryOptions({
    queryKey: ["runs", "one", run, "seconds", maxPoints],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/runs/{run_id}/seconds", {
          params: { ...path(run), query: { max_points: maxPoints } },
          signal,
        }),
      ),
  });
}

export function runFiguresQuery(run: string, fromSeconds: number, toSeconds: number) {
  return queryOptions({
    queryKey: ["runs", "one", run, "figures", fromSeconds, toSeconds],
    queryFn: ({ signal }) => {
      const query = { from_seconds: fromSeconds, to_seconds: toSeconds };
      return unwrap(api.GET("/api/runs/{run_id}/figures", { params: { ...path(run), query }, signal }));
    },
  });
}

/** Any percentiles of a run and of its endpoints. */
export function runPercentilesQuery(run: string, names: readonly string[]) {
  return queryOptions({
    queryKey: ["runs", "one", run, "percentiles", names],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/runs/{run_id}/percentiles", {
          params: { ...path(run), query: { percentile: [...names] } },
          signal,
        }),
      ),
    enabled: run !== "" && names.length > 0,
    placeholderData: keepPreviousData,
  });
}

/** What the requests of a run cost, held against `base`, or against its own baseline. */
export function runCostQuery(run: string, lang: "en" | "ja", base?: string) {
  return queryOptions({
    queryKey: ["runs", "one", run, "cost", lang, base ?? ""],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/runs/{run_id}/cost", {
          params: { ...path(run), query: base === undefined ? { lang } : { lang, base } },
          signal,
        }),
      ),
    staleTime: 30_000,
  });
}

/** Requests of a run by route, held against `base`, or against its own baseline. */
export function runRoutesQuery(run: string, lang: "en" | "ja", base?: string) {
  return queryOptions({
    queryKey: ["runs", "one", run, "routes", lang, base ?? ""],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/runs/{run_id}/routes", {
          params: { ...path(run), query: base === undefined ? { lang } : { lang, base } },
          signal,
        }),
      ),
    staleTime: 30_000,
  });
}

/** What the databases of a run were asked, held against `base`, or against its own baseline. */
export function runStatementsQuery(run: string, lang: "en" | "ja", base?: string) {
  return queryOptions({
    queryKey: ["runs", "one", run, "statements", lang, base ?? ""],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/runs/{run_id}/statements", {
          params: { ...path(run), query: base === undefined ? { lang } : { lang, base } },
          signal,
        }),
      ),
    staleTime: 30_000,
  });
}

/** Signals over a span that lies in the past: asked once, kept. */
export function runSignalsQuery(signals: readonly string[], startMs: number, endMs: number, lang: "en" | "ja") {
  return queryOptions({
    queryKey: ["signals-window", signals, startMs, endMs, lang],
    queryFn: ({ signal }) =>
      querySignals(
        { signals: [...signals], start_ms: startMs, end_ms: endMs, max_points: 600, lang, filters: {} },
        signal,
      ),
    staleTime: 30_000,
  });
}

export function updateRun(run: string, body: RunPatch) {
  return unwrap(api.PATCH("/api/runs/{run_id}", { params: path(run), body })) as Promise<Run>;
}

export function runDeletionQuery(run: string) {
  return queryOptions({
    queryKey: ["runs", "one", run, "deletion"],
    queryFn: ({ signal }) => unwrap(api.GET("/api/runs/{run_id}/deletion", { params: path(run), signal })),
    staleTime: 0,
  });
}

export function deleteRun(run: string) {
  return unwrap(api.DELETE("/api/runs/{run_id}", { params: path(run) }));
}

export function pinBaseline(run: string, pinned: boolean) {
  const call = pinned ? api.PUT : api.DELETE;
  return unwrap(call("/api/runs/{run_id}/baseline", { params: path(run) })) as Promise<Run>;
}

export function readImport(job: string) {
  return unwrap(api.GET("/api/imports/{import_id}", { params: { path: { import_id: job } } }));
}

/** Ends an import that waits or is being read; nothing of it is kept. */
export function cancelImport(job: string) {
  return unwrap(api.DELETE("/api/imports/{import_id}", { params: { path: { import_id: job } } }));
}

export function runDifferenceQuery(run: string, base: string | null) {
  return queryOptions({
    queryKey: ["runs", "one", run, "difference", base],
    queryFn: ({ signal }) => {
      const query = base === null ? {} : { base };
      return unwrap(api.GET("/api/runs/{run_id}/difference", { params: { ...path(run), query }, signal }));
    },
  });
}

export function runSnapshotsQuery(run: string, everything: boolean) {
  return queryOptions({
    queryKey: ["runs", "one", run, "snapshots", everything],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/runs/{run_id}/snapshots", { params: { ...path(run), query: { everything } }, signal })),
  });
}

export function reviewQuery(run: string) {
  return queryOptions({
    queryKey: ["runs", "one", run, "review"],
    queryFn: ({ signal }) => unwrap(api.GET("/api/runs/{run_id}/review", { params: path(run), signal })),
  });
}

/** `leaving`: the request must outlive the page. */
export function writeReview(run: string, body: ReviewInput, leaving = false) {
  return unwrap(api.PUT("/api/runs/{run_id}/review", { params: path(run), body, keepalive: leaving }));
}

export function reviewHistoryQuery(run: string) {
  return queryOptions({
    queryKey: ["runs", "one", run, "review", "history"],
    queryFn: ({ signal }) => unwrap(api.GET("/api/runs/{run_id}/review/history", { params: path(run), signal })),
    staleTime: 0,
  });
}

export function sharesQuery(run: string) {
  return queryOptions({
    queryKey: ["runs", "one", run, "shares"],
    queryFn: ({ signal }) => unwrap(api.GET("/api/runs/{run_id}/shares", { params: path(run), signal })),
  });
}

export function createShare(run: string, days: number, note: string, files: readonly string[]) {
  return unwrap(api.POST("/api/runs/{run_id}/shares", { params: path(run), body: { days, note, files: [...files] } }));
}

export function deleteShare(share: string) {
  return unwrap(api.DELETE("/api/shares/{share_id}", { params: { path: { share_id: share } } }));
}

export type ReportFormat = "html" | "md" | "json";

/** Addresses that the browser opens or saves itself. */
export const runFiles = {
  report: (run: string, format: ReportFormat, lang: "en" | "ja", files: readonly string[] = []) =>
    `/api/runs/${run}/report?format=${format}&lang=${lang}${files.map((file) => `&files=${file}`).join("")}`,
  /** `files`: ids of those that go along; null: all of them. */
  archive: (run: string, files: readonly string[] | null = null, annotations = true) => {
    const query = new URLSearchParams((files ?? []).map((file) => ["files", file]));
    if (files?.length === 0) query.set("evidence", "false");
    if (!annotations) query.set("annotations", "false");
    return `/api/runs/${run}/archive${query.size > 0 ? `?${query}` : ""}`;
  },
  records: (run: string) => `/api/runs/${run}/records.parquet`,
} as const;
