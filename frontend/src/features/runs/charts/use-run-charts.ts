import { keepPreviousData, type UseQueryResult, useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { runSecondsQuery } from "@/api/runs/queries";
import type { Run, RunSeconds } from "@/api/runs/types";
import type { ChartBand } from "@/charts/chart-types";
import type { Range } from "@/lib/time/time";
import type { NotesHandle } from "@/panels/notes/notes-layer";
import { useNotes } from "@/panels/notes/use-notes";
import type { ChartContext } from "@/panels/run/chart-context";
import { rangeOf, windowOf } from "../model/window";
import { type RunSpan, useRunSpan } from "./use-run-span";
import { type SteadyEdit, useSteadyEdit } from "./use-steady-edit";

const POINTS = 600;
/** A zoomed chart of a long run wants more than one point a pixel of the whole. */
const ZOOMED_POINTS = 10_000;

export interface RunChartsHandle {
  readonly seconds: UseQueryResult<RunSeconds>;
  readonly span: RunSpan;
  readonly edit: SteadyEdit;
  readonly context: ChartContext;
  readonly notes: ReturnType<typeof useNotes>;
  /** Opens forms of notes, once their layer is there. */
  readonly handle: NotesHandle | null;
  readonly setHandle: (handle: NotesHandle | null) => void;
}

/** What all charts of the page share: one axis, one zoom, one steady window, the same notes. */
export function useRunCharts(run: Run): RunChartsHandle {
  const running = run.state === "running" && !run.silent;
  const [zoomed, setZoomed] = useState(false);
  const seconds = useQuery({
    ...runSecondsQuery(run.id, zoomed ? ZOOMED_POINTS : POINTS),
    enabled: running || run.requests !== null,
    // Before the first figures are streamed there is nothing to read.
    refetchInterval: ({ state }) => (running ? (state.status === "error" ? 5000 : 2000) : false),
    placeholderData: keepPreviousData,
  });
  const span = useRunSpan(run, seconds.data);
  const reduced = seconds.data?.reduced === true;
  if ((span.zoom !== null && (zoomed || reduced)) !== zoomed) setZoomed(span.zoom !== null);
  const edit = useSteadyEdit(run, span.originMs, span.lengthSeconds);
  const notes = useNotes(span.range);
  const [handle, setHandle] = useState<NotesHandle | null>(null);
  const bands = useBands(run, edit.draft, span.originMs);

  const { draw, draft } = edit;
  const { range, setZoom, originMs, lengthSeconds } = span;
  const { marks } = notes;
  const adjusting = draft !== null;
  const onZoom = useCallback(
    (range: Range) => {
      if (adjusting) draw(range);
      else setZoom(windowOf(range, originMs, lengthSeconds));
    },
    [adjusting, draw, setZoom, originMs, lengthSeconds],
  );
  const onZoomOut = useCallback(() => setZoom(null), [setZoom]);
  const onInstant = useCallback(
    (timeMs: number) => {
      if (!adjusting) handle?.add(timeMs, null);
    },
    [adjusting, handle],
  );
  const onNote = useCallback((id: string) => handle?.openById(id), [handle]);
  const context = useMemo(
    (): ChartContext => ({ range, bands, notes: marks, onZoom, onZoomOut, onInstant, onNote }),
    [range, bands, marks, onZoom, onZoomOut, onInstant, onNote],
  );
  return { seconds, span, edit, context, notes, handle, setHandle };
}

/** The steady window, or its draft, behind every chart. */
function useBands(run: Run, draft: { from: number; to: number } | null, originMs: number): readonly ChartBand[] {
  const { t } = useTranslation();
  const window = run.steady_window;
  return useMemo(() => {
    if (draft !== null) {
      const { startMs, endMs } = rangeOf(originMs, draft);
      return [{ id: "steady", label: t("runs.page.newWindow"), startMs, endMs }];
    }
    if (window === null || window.source === "whole" || run.state === "running") return [];
    return [{ id: "steady", label: t("runs.page.steady"), startMs: window.from_ms, endMs: window.to_ms }];
  }, [window, run.state, draft, originMs, t]);
}
