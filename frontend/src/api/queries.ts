/** Fetchers and query options, one per endpoint. */
import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "@/api/client";
import { setServerTime } from "@/api/server-clock";
import type { NoteInput, NotePatch, PanelInput, SignalQuery, Target } from "@/api/types";

export type Language = "en" | "ja";

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: ({ signal }) => unwrap(api.GET("/api/session", { signal })),
  staleTime: Number.POSITIVE_INFINITY,
});

export const statusQuery = queryOptions({
  queryKey: ["status"],
  queryFn: async ({ signal }) => {
    const asked = Date.now();
    const status = await unwrap(api.GET("/api/status", { signal }));
    setServerTime(status.now_ms, asked, Date.now());
    return status;
  },
});

export function signalsQuery(lang: Language) {
  return queryOptions({
    queryKey: ["signals", lang],
    queryFn: ({ signal }) => unwrap(api.GET("/api/signals", { params: { query: { lang } }, signal })),
    staleTime: 5 * 60_000,
  });
}

/** `atMs` null asks for the present; `sinceMs` is where the order begins in which limits were reached. */
export function headroomQuery(lang: Language, atMs: number | null) {
  return queryOptions({
    queryKey: ["headroom", lang, atMs],
    queryFn: ({ signal }) => {
      const query = { lang, ...(atMs !== null && { at_ms: atMs }) };
      return unwrap(api.GET("/api/headroom", { params: { query }, signal }));
    },
  });
}

export const targetsQuery = queryOptions({
  queryKey: ["targets"],
  queryFn: ({ signal }) => unwrap(api.GET("/api/targets", { signal })),
});

/** Whether silent targets were taken away. */
export function answerTargets(targets: readonly Pick<Target, "job" | "instance">[], takenAway: boolean) {
  const named = targets.map(({ job, instance }) => ({ job, instance }));
  return unwrap(api.POST("/api/targets/answers", { body: { targets: named, taken_away: takenAway } }));
}

export function notesQuery(startMs: number, endMs: number) {
  return queryOptions({
    queryKey: ["notes", startMs, endMs],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/annotations", { params: { query: { start_ms: startMs, end_ms: endMs } }, signal })),
  });
}

export function querySignals(body: SignalQuery, signal: AbortSignal) {
  return unwrap(api.POST("/api/signals/query", { body, signal }));
}

const NO_PANEL: PanelInput = { title: "", expressions: [], unit: "count", legend: "", signals: [] };

/** Of expressions with what goes with them, or of signals. */
export function pinPanel(panel: Partial<PanelInput>) {
  return unwrap(api.POST("/api/panels", { body: { ...NO_PANEL, ...panel } }));
}

export function removePanel(id: string) {
  return unwrap(api.DELETE("/api/panels/{panel_id}", { params: { path: { panel_id: id } } }));
}

export function addNote(body: NoteInput) {
  return unwrap(api.POST("/api/annotations", { body }));
}

export function changeNote(id: number, body: NotePatch) {
  return unwrap(api.PATCH("/api/annotations/{annotation_id}", { params: { path: { annotation_id: id } }, body }));
}

export function deleteNote(id: number) {
  return unwrap(api.DELETE("/api/annotations/{annotation_id}", { params: { path: { annotation_id: id } } }));
}

export function signIn(token: string) {
  return unwrap(api.POST("/api/session", { body: { token } }));
}

export function signOut() {
  return unwrap(api.DELETE("/api/session"));
}
