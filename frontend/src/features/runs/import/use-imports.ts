import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { ApiError } from "@/api/client";
import { cancelImport, readImport } from "@/api/runs/queries";
import type { ImportJob } from "@/api/runs/types";
import { type ImportFacts, isArchive, type Upload, uploadArchive, uploadResult } from "@/api/runs/upload";

export interface ImportItem {
  readonly key: number;
  readonly filename: string;
  readonly phase: "waiting" | "sending" | "reading" | "done" | "failed" | "cancelled";
  /** 0 to 1 within the phase; null when it cannot be told. */
  readonly share: number | null;
  readonly records: number;
  readonly run: string | null;
  readonly problem: { readonly code: string; readonly detail: string } | null;
}

const POLL_MS = 300;

/** Files on their way into runs, one after the other: the server reads each as fast as its disk allows. */
export function useImports() {
  const client = useQueryClient();
  const [items, setItems] = useState<readonly ImportItem[]>([]);
  const queue = useRef<Promise<void>>(Promise.resolve());
  const next = useRef(1);
  const uploads = useRef(new Map<number, Upload<unknown>>());
  const jobs = useRef(new Map<number, string>());
  const gone = useRef(false);
  useEffect(() => {
    gone.current = false;
    const held = uploads.current;
    return () => {
      gone.current = true;
      for (const upload of held.values()) upload.abort();
    };
  }, []);

  const set = useCallback((key: number, part: Partial<ImportItem>) => {
    setItems((held) => held.map((item) => (item.key === key ? { ...item, ...part } : item)));
  }, []);

  const take = useCallback(
    async (key: number, file: File, facts: ImportFacts): Promise<void> => {
      const progress = (sent: number, total: number) => set(key, { share: total > 0 ? sent / total : null });
      const track = <T>(upload: Upload<T>) => {
        uploads.current.set(key, upload);
        return upload.answer;
      };
      set(key, { phase: "sending", share: 0 });
      try {
        if (await isArchive(file)) {
          const run = await track(uploadArchive(file, progress));
          set(key, { phase: "done", share: 1, run: run.id });
        } else {
          const job = await track(uploadResult(file, facts, progress));
          jobs.current.set(key, job.id);
          set(key, jobItem(job));
          await follow(job.id, gone, (now) => set(key, jobItem(now)));
        }
      } catch (error) {
        set(key, { phase: "failed", problem: problemOf(error) });
      } finally {
        uploads.current.delete(key);
        jobs.current.delete(key);
      }
      await client.invalidateQueries({ queryKey: ["runs"] });
    },
    [client, set],
  );

  const start = useCallback(
    (files: readonly File[], facts: ImportFacts) => {
      for (const file of files) {
        const key = next.current++;
        const item = { key, filename: file.name, share: null, records: 0, run: null, problem: null };
        setItems((held) => [...held, { ...item, phase: "waiting" as const }]);
        queue.current = queue.current.then(() => (gone.current ? undefined : take(key, file, facts)));
      }
    },
    [take],
  );
  const dismiss = useCallback((key: number) => {
    uploads.current.get(key)?.abort();
    const job = jobs.current.get(key);
    // A server that cannot be asked is not reading either, or ends by its own deadline.
    if (job !== undefined) cancelImport(job).catch(() => undefined);
    setItems((held) => held.filter((item) => item.key !== key));
  }, []);
  return { items, start, dismiss };
}

/** Asks until the import has ended; throws what made it fail. */
async function follow(id: string, gone: { current: boolean }, onJob: (job: ImportJob) => void): Promise<void> {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    if (gone.current) return;
    const job = await readImport(id);
    onJob(job);
    if (job.state !== "reading") return;
  }
}

function jobItem(job: ImportJob): Partial<ImportItem> {
  const share = job.bytes_total > 0 ? Math.min(1, job.bytes_read / job.bytes_total) : null;
  const base = { records: job.records, run: job.run, share };
  if (job.state === "done") return { ...base, phase: "done", share: 1 };
  if (job.state === "reading" || job.state === "cancelled") return { ...base, phase: job.state };
  const { code, detail } = (job.error ?? {}) as { code?: unknown; detail?: unknown };
  const problem = { code: typeof code === "string" ? code : "import-failed", detail: String(detail ?? "") };
  return { ...base, phase: "failed", problem };
}

function problemOf(error: unknown): { code: string; detail: string } {
  if (error instanceof ApiError) return { code: error.code, detail: error.detail };
  return { code: "stopped", detail: error instanceof Error ? error.message : String(error) };
}
