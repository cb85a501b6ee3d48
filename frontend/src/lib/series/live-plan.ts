/** What to ask the server for next, and how often. Pure; the feed that does the asking is panels/live-feed.ts. */
import { followsNow, formatPoint, resolveRange, type TimeRange } from "@/lib/time/range";
import { type Locale, liveRange, type Range } from "@/lib/time/time";
import type { Filters } from "@/lib/view/state";
import { type Answer, canMerge, endOf, mergeAnswer, type SignalResult, trimAnswer } from "./series";

/** Points a series at most: about as many as a chart has pixels. */
export const MAX_POINTS = 600;
/** Signals that one request may name. */
const MAX_SIGNALS = 200;
/** Values that come once a minute are few: a day of them is shown as it is, each with its own period. */
const MAX_LATE_POINTS = 1500;
/** Late values come once a minute: to ask for them at each sample of an agent would be a waste. */
export const LATE_REFRESH_MS = 10_000;
const FASTEST_MS = 250;
const SLOWEST_MS = 30_000;

export interface FeedView {
  readonly range: TimeRange;
  readonly pausedAt: number | null;
  readonly filters: Filters;
  /** Language of the series' names. */
  readonly lang: Locale;
}

/** What the time axes span at `now`. A moving range is snapped, so that axes stay still between steps. */
export function axisRange(view: FeedView, now: number): Range {
  const { start, end } = resolveRange(view.range, view.pausedAt ?? now);
  if (!followsNow(view.range) || view.pausedAt !== null) return { startMs: start, endMs: end };
  const snapped = liveRange(end, end - start);
  return view.range.from.kind === "at" ? { startMs: start, endMs: snapped.endMs } : snapped;
}

/** Two views with the same key can share answers. */
export function viewKey(view: FeedView): string {
  const range = `${formatPoint(view.range.from)} ${formatPoint(view.range.to)}`;
  return JSON.stringify([range, view.pausedAt, view.lang, Object.entries(view.filters).sort()]);
}

/** The shortest sensible time between two refreshes: one pixel's worth of the range. */
export function refreshPeriod(range: Range): number {
  return Math.min(SLOWEST_MS, Math.max(FASTEST_MS, (range.endMs - range.startMs) / MAX_POINTS));
}

/** Time to wait after `failures` failed refreshes in a row. */
export function backoff(failures: number): number {
  return Math.min(15_000, 1000 * 2 ** Math.max(0, failures - 1));
}

export interface PanelSignals {
  readonly panel: string;
  readonly signals: readonly string[];
  /** Its values come late, and may be revised for an hour. */
  readonly late?: boolean;
  /** The shortest period of late values: each has a grid of its own. */
  readonly periodMs?: number;
  /** Signals to ask for as well, by what is held: how many instances there are tells how they are drawn. */
  readonly more?: (held: Answer | undefined) => readonly string[];
}

/** With all that is to be asked for. */
export function wholePanel(panel: PanelSignals, held: Answer | undefined): PanelSignals {
  const more = panel.more?.(held) ?? [];
  return more.length === 0 ? panel : { ...panel, signals: [...panel.signals, ...more] };
}

/** Whether an answer is about all of these signals. */
export function isWhole(held: Answer | undefined, { signals }: PanelSignals): boolean {
  const found = new Set(held?.results.map(({ signal }) => signal));
  return signals.every((id) => found.has(id));
}

export interface Ask {
  readonly panels: readonly PanelSignals[];
  readonly startMs: number;
  readonly endMs: number;
  /** The step of the answer to be continued; null lets the server choose. */
  readonly stepMs: number | null;
  readonly maxPoints: number;
}

/**
 * One request over the whole range for panels that hold nothing usable, one from the last complete point for the
 * others; more only where panels stand on different steps or name more signals than one request may.
 */
export function planAsks(held: ReadonlyMap<string, Answer>, wanted: readonly PanelSignals[], range: Range): Ask[] {
  const known = wanted.filter((one) => covers(held.get(one.panel), range) && isWhole(held.get(one.panel), one));
  const fresh = wanted.filter((one) => !known.includes(one));
  const asks: Ask[] = [];
  for (const alike of groupBy(fresh, (panel) => pace(panel, held)).values()) {
    const maxPoints = alike[0]?.late === true ? MAX_LATE_POINTS : MAX_POINTS;
    for (const panels of inBatches(alike)) asks.push({ panels, ...range, stepMs: null, maxPoints });
  }
  // Panels that came later may stand on another step; each step is a request of its own.
  for (const panels of groupBy(known, (panel) => `${held.get(panel.panel)?.stepMs} ${pace(panel, held)}`).values()) {
    const answers = panels.flatMap(({ panel }) => held.get(panel) ?? []);
    const stepMs = answers[0]?.stepMs ?? null;
    const startMs = Math.max(range.startMs, Math.min(...answers.map((answer) => answer.completeMs)));
    for (const batch of inBatches(panels))
      asks.push({ panels: batch, startMs, endMs: range.endMs, stepMs, maxPoints: MAX_POINTS });
  }
  return asks;
}

/**
 * Late values have a grid of their own, that of their period. A panel with some among others stands alone: that they
 * are read again for hours must not hold for the panels beside it.
 */
function pace({ panel, late, periodMs }: PanelSignals, held: ReadonlyMap<string, Answer>): string {
  if (late === true) return `late ${periodMs}`;
  return held.get(panel)?.results.some(({ newestMs }) => newestMs != null) === true ? "mixed" : "now";
}

function groupBy<T>(items: readonly T[], key: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group) group.push(item);
    else groups.set(key(item), [item]);
  }
  return groups;
}

/** Panels in batches that the server takes at once. */
function inBatches(panels: readonly PanelSignals[]): PanelSignals[][] {
  const batches: PanelSignals[][] = [];
  let room = 0;
  for (const panel of panels) {
    if (panel.signals.length > room || batches.length === 0) {
      batches.push([]);
      room = MAX_SIGNALS;
    }
    batches.at(-1)?.push(panel);
    room -= panel.signals.length;
  }
  return batches;
}

function covers(answer: Answer | undefined, range: Range): boolean {
  if (answer === undefined) return false;
  return answer.startMs <= range.startMs && answer.completeMs > range.startMs && endOf(answer) > range.startMs;
}

/** The part of an answer that belongs to one panel, in the panel's order. */
export function panelAnswer(answer: Answer, signals: readonly string[]): Answer {
  const byId = new Map(answer.results.map((result) => [result.signal, result]));
  const results = signals.flatMap((id): readonly SignalResult[] => {
    const result = byId.get(id);
    return result ? [result] : [];
  });
  return { ...answer, results };
}

/**
 * The panel's answer after an increment, or null when the increment does not continue it and the whole range is
 * needed again.
 */
export function continueAnswer(held: Answer, next: Answer, range: Range): Answer | null {
  return canMerge(held, next) ? trimAnswer(mergeAnswer(held, next), range.startMs) : null;
}
