/** Fetchers and query options of findings; those of a run are in the run. */
import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "@/api/client";
import type { Run } from "@/api/runs/types";
import type { MarkInput, MuteInput } from "./types";

/** What is said of the last five minutes. */
export const liveFindingsQuery = queryOptions({
  queryKey: ["findings", "live"],
  queryFn: ({ signal }) => unwrap(api.GET("/api/findings", { signal })),
});

export const mutesQuery = queryOptions({
  queryKey: ["findings", "mutes"],
  queryFn: ({ signal }) => unwrap(api.GET("/api/findings/mutes", { signal })),
});

/** How often findings were right, by the people who looked. */
export const precisionQuery = queryOptions({
  queryKey: ["findings", "precision"],
  queryFn: ({ signal }) => unwrap(api.GET("/api/findings/precision", { signal })),
});

export function markFinding(run: string, body: MarkInput) {
  return unwrap(
    api.PUT("/api/runs/{run_id}/findings/mark", { params: { path: { run_id: run } }, body }),
  ) as Promise<Run>;
}

/** A run's findings by this version of the engine, beside what was said. */
export function findAgain(run: string, keep: boolean) {
  return unwrap(api.POST("/api/runs/{run_id}/findings", { params: { path: { run_id: run }, query: { keep } } }));
}

export function muteFinding(body: MuteInput) {
  return unwrap(api.POST("/api/findings/mutes", { body }));
}

export function unmuteFinding(mute: number) {
  return unwrap(api.DELETE("/api/findings/mutes/{mute_id}", { params: { path: { mute_id: mute } } }));
}
