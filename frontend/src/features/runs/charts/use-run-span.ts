import { useCallback, useMemo } from "react";
import type { Run, RunSeconds } from "@/api/runs/types";
import { serverNow } from "@/api/server-clock";
import type { Range } from "@/lib/time/time";
import { useNow } from "@/lib/time/use-now";
import { useParams, withParams } from "@/lib/use-params";
import { aroundRun } from "@/panels/run/around";
import { formatWindow, parseWindow, type RunWindow, rangeOf } from "../model/window";

export interface RunSpan {
  /** Where a run's own seconds begin. */
  readonly originMs: number;
  readonly lengthSeconds: number;
  /** What the charts span: the run with a little before and after, or the part that was zoomed to. */
  readonly range: Range;
  readonly zoom: RunWindow | null;
  readonly setZoom: (window: RunWindow | null) => void;
}

/** A run under way moves its axis in steps, so that charts stay still between. */
const GRAIN_MS = 15_000;

export function useRunSpan(run: Run, seconds: RunSeconds | undefined): RunSpan {
  const [params, edit] = useParams();
  const running = run.state === "running" && !run.silent;
  const now = useNow(serverNow, running ? 5000 : 3_600_000);
  const text = params.get("window");
  const setZoom = useCallback(
    (window: RunWindow | null) => edit((held) => withParams(held, { window: window && formatWindow(window) }), false),
    [edit],
  );
  const window = run.steady_window;
  const fromWindow = window === null ? null : window.from_ms - window.from_seconds * 1000;
  const originMs = fromWindow ?? seconds?.start_ms ?? run.started_ms;
  const secondsEnd = seconds === undefined ? 0 : seconds.start_ms + seconds.count * seconds.step_ms;
  const liveEnd = Math.ceil(now / GRAIN_MS) * GRAIN_MS;
  const endMs = running ? liveEnd : Math.max(secondsEnd, run.ended_ms ?? 0, originMs + 1000);
  return useMemo(() => {
    const zoom = parseWindow(text);
    const span = endMs - originMs;
    const range = zoom === null ? aroundRun(originMs, endMs, running) : rangeOf(originMs, zoom);
    return { originMs, lengthSeconds: span / 1000, range, zoom, setZoom };
  }, [text, originMs, endMs, running, setZoom]);
}
