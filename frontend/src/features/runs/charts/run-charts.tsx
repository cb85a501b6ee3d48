import { Button } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { runSecondsQuery } from "@/api/runs/queries";
import type { Run } from "@/api/runs/types";
import type { ChartBand } from "@/charts/chart-types";
import { formatElapsed } from "@/lib/run-text";
import type { Range } from "@/lib/time/time";
import { NoteLane } from "@/panels/notes/note-lane";
import { type NotesHandle, NotesLayer } from "@/panels/notes/notes-layer";
import { useNotes } from "@/panels/notes/use-notes";
import { Icon } from "@/ui/icon";
import { Section } from "@/ui/page/section";
import { rangeOf, windowOf } from "../model/window";
import type { ChartContext } from "./chart-context";
import classes from "./charts.module.css";
import { LoadCharts } from "./load-charts";
import { SteadyBar } from "./steady-bar";
import { SystemCharts } from "./system-charts";
import { useRunSpan } from "./use-run-span";
import { useSteadyEdit } from "./use-steady-edit";

const POINTS = 600;
/** A zoomed chart of a long run wants more than one point a pixel of the whole. */
const ZOOMED_POINTS = 10_000;

/** The load and the system over the run, on one axis. */
export function RunCharts({ run }: { run: Run }) {
  const { t } = useTranslation();
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
  const { notes, marks, error } = useNotes(span.range);
  const [handle, setHandle] = useState<NotesHandle | null>(null);
  const bands = useBands(run, edit.draft, span.originMs);

  const { draw, draft } = edit;
  const { setZoom, originMs, lengthSeconds } = span;
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
    (): ChartContext => ({ range: span.range, bands, notes: marks, onZoom, onZoomOut, onInstant, onNote }),
    [span.range, bands, marks, onZoom, onZoomOut, onInstant, onNote],
  );
  return (
    <div className={classes.charts} data-adjusting={adjusting}>
      <Section
        id="charts"
        title={t("runs.page.nav_charts")}
        aside={
          span.zoom !== null && (
            <Button
              size="compact-xs"
              variant="default"
              leftSection={<Icon name="zoomOut" size={12} />}
              onClick={onZoomOut}
            >
              {t("runs.page.zoomed", { from: formatElapsed(span.zoom.from), to: formatElapsed(span.zoom.to) })}
            </Button>
          )
        }
      >
        {run.state !== "running" && run.requests !== null && (
          <SteadyBar run={run} edit={edit} lengthSeconds={span.lengthSeconds} />
        )}
        <NoteLane
          notes={notes}
          range={span.range}
          onDraw={(start, end) => handle?.add(start, end)}
          onOpen={(note) => handle?.edit(note)}
        />
        <LoadCharts run={run} seconds={seconds} context={context} />
      </Section>
      <SystemCharts run={run} context={context} />
      <NotesLayer notes={notes} error={error} onReady={setHandle} />
    </div>
  );
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
