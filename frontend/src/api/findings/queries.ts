/** Fetchers and query options of findings; those of a run are in the run. */
import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "@/api/client";
import type { MarkInput } from "./types";

/** What is said of the last five minutes. */
export const liveFindingsQuery = queryOptions({
  queryKey: ["findings", "live"],
  queryFn: ({ signal }) => unwrap(api.GET("/api/findings", { signal })),
});

/** A run's findings by this version of the engine, beside what was said. */
export function findAgain(run: string, keep: boolean) {
  return unwrap(api.POST("/api/runs/{run_id}/findings", { params: { path: { run_id: run }, query: { keep } } }));
}

export function markFinding(body: MarkInput) {
  return unwrap(api.POST("/api/findings/marks", { body }));
}

export function deleteMark(mark: number) {
  return unwrap(api.DELETE("/api/findings/marks/{mark_id}", { params: { path: { mark_id: mark } } }));
}
