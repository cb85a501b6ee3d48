/** Sends files with a progress: fetch tells nothing while it uploads, so this is the one place with XMLHttpRequest. */
import { ApiError } from "@/api/client";
import type { operations } from "@/api/schema.gen";
import type { ImportJob, Run } from "./types";

/** What is said of a result beside its file; all optional. */
export type ImportFacts = NonNullable<operations["import_result"]["parameters"]["query"]>;

export interface Upload<T> {
  readonly answer: Promise<T>;
  abort(): void;
}

type Progress = (sent: number, total: number) => void;

/** Sends a load tool's result file; the job that comes back tells how far the server has read it. */
export function uploadResult(file: File, facts: ImportFacts, onProgress: Progress): Upload<ImportJob> {
  return sendFile<ImportJob>(
    `/api/imports?${importParams(file.name, facts)}`,
    file,
    "application/octet-stream",
    onProgress,
  );
}

/** Sends the archive of a whole run, as another server exported it. */
export function uploadArchive(file: File, onProgress: Progress): Upload<Run> {
  return sendFile<Run>("/api/archives", file, "application/zip", onProgress);
}

/** A zip that begins with a manifest is an archive of ours; others hold the files of a load tool, as Locust's. */
export async function isArchive(file: Blob): Promise<boolean> {
  const head = new TextDecoder("latin1").decode(await file.slice(0, 64).arrayBuffer());
  return head.startsWith("PK\u0003\u0004") && head.startsWith("manifest.json", 30);
}

export function importParams(filename: string, facts: ImportFacts): URLSearchParams {
  const params = new URLSearchParams({ filename });
  for (const [name, value] of Object.entries(facts)) {
    for (const one of [value].flat()) params.append(name, String(one));
  }
  return params;
}

export function sendFile<T>(url: string, file: Blob, type: string, onProgress: Progress): Upload<T> {
  const request = new XMLHttpRequest();
  const answer = new Promise<T>((resolve, reject) => {
    request.open("POST", url);
    request.setRequestHeader("Content-Type", type);
    request.upload.onprogress = (event) => onProgress(event.loaded, event.lengthComputable ? event.total : file.size);
    request.onload = () => {
      const body = parse(request.responseText);
      if (request.status >= 200 && request.status < 300) resolve(body as T);
      else reject(problem(request.status, body));
    };
    request.onerror = () => reject(new ApiError(0, "offline", ""));
    request.onabort = () => reject(new DOMException("Upload stopped", "AbortError"));
    request.send(file);
  });
  return { answer, abort: () => request.abort() };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function problem(status: number, body: unknown): ApiError {
  const { code, detail } = (body ?? {}) as { code?: unknown; detail?: unknown };
  return new ApiError(
    status,
    typeof code === "string" ? code : `http-${status}`,
    typeof detail === "string" ? detail : "",
  );
}
