/** Spans within a run, in seconds since its start. Pure. */
import type { Range } from "@/lib/time/time";

export interface RunWindow {
  readonly from: number;
  readonly to: number;
}

/** Shorter windows say nothing about a steady state. */
export const SHORTEST_WINDOW_SECONDS = 1;

/** A window drawn over a chart as whole seconds of the run; null when it lies outside of it. */
export function windowOf(range: Range, startMs: number, lengthSeconds: number): RunWindow | null {
  const from = Math.max(0, Math.round((range.startMs - startMs) / 1000));
  const to = Math.min(Math.ceil(lengthSeconds), Math.round((range.endMs - startMs) / 1000));
  if (to <= 0 || from >= lengthSeconds) return null;
  return clampWindow({ from, to }, lengthSeconds);
}

/** The nearest window that is in order, long enough and within the run. */
export function clampWindow(window: RunWindow, lengthSeconds: number): RunWindow {
  const length = Math.max(SHORTEST_WINDOW_SECONDS, lengthSeconds);
  const [low, high] = window.from <= window.to ? [window.from, window.to] : [window.to, window.from];
  const from = Math.min(Math.max(0, low), length - SHORTEST_WINDOW_SECONDS);
  return { from, to: Math.min(length, Math.max(high, from + SHORTEST_WINDOW_SECONDS)) };
}

/** `60-120` in an address; null for anything else. */
export function parseWindow(text: string | null): RunWindow | null {
  const match = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(text ?? "");
  if (match === null) return null;
  const [from, to] = [Number(match[1]), Number(match[2])];
  return to > from ? { from, to } : null;
}

export function formatWindow({ from, to }: RunWindow): string {
  const text = (value: number) => String(Math.round(value * 1000) / 1000);
  return `${text(from)}-${text(to)}`;
}

/** The run's own span, or a part of it, in time. */
export function rangeOf(startMs: number, window: RunWindow): Range {
  return { startMs: startMs + window.from * 1000, endMs: startMs + window.to * 1000 };
}
