/** Fetchers and query options of the files that are kept with runs. */
import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "@/api/client";
import { sendFile, type Upload } from "@/api/runs/upload";
import type { EvidenceFile } from "./types";

const file = (id: string) => ({ params: { path: { file_id: id } } });

/** Files of a run; every key under "evidence" follows from a file more or less. */
export function evidenceQuery(run: string) {
  return queryOptions({
    queryKey: ["evidence", "list", run],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/runs/{run_id}/evidence", { params: { path: { run_id: run } }, signal })),
  });
}

/** The content of a file that is text; it never changes. */
export function evidenceTextQuery(id: string, shown: boolean) {
  return queryOptions({
    queryKey: ["evidence-text", id],
    queryFn: ({ signal }) => unwrap(api.GET("/api/evidence/{file_id}", { ...file(id), parseAs: "text", signal })),
    enabled: shown,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Where the browser reads a file. */
export function evidenceAddress(id: string): string {
  return `/api/evidence/${id}`;
}

export function attach(run: string, given: File): Upload<EvidenceFile> {
  const query = new URLSearchParams({ kind: "attachment", name: given.name || "unnamed" });
  return sendFile<EvidenceFile>(`/api/runs/${run}/evidence?${query}`, given, "application/octet-stream", () => {});
}

export function noteEvidence(id: string, note: string) {
  return unwrap(api.PATCH("/api/evidence/{file_id}", { ...file(id), body: { note } }));
}

export function deleteEvidence(id: string) {
  return unwrap(api.DELETE("/api/evidence/{file_id}", file(id)));
}

/** Log lines of a run by pattern, what is new first. */
export function logPatternsQuery(run: string) {
  return queryOptions({
    queryKey: ["evidence", "log-patterns", run],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/runs/{run_id}/log-patterns", { params: { path: { run_id: run } }, signal })),
  });
}
