/**
 * Keeps the values of all visible panels up to date: one batched request at a time, increments from the last
 * complete point, woken by news of samples, slower than the pixels can show never faster.
 */
import { ApiError } from "@/api/client";
import { querySignals } from "@/api/queries";
import { serverNow } from "@/api/server-clock";
import {
  type Ask,
  axisRange,
  backoff,
  continueAnswer,
  type FeedView,
  isWhole,
  LATE_REFRESH_MS,
  type PanelSignals,
  panelAnswer,
  planAsks,
  refreshPeriod,
  viewKey,
  wholePanel,
} from "@/lib/series/live-plan";
import { type Answer, answerFromWire } from "@/lib/series/series";
import type { Range } from "@/lib/time/time";
import { isLive } from "@/lib/view/state";

export interface FeedState {
  /** Time axis of every chart. */
  readonly range: Range;
  /** By panel id. Answers of the former range stay until those of the new one are here. */
  readonly answers: ReadonlyMap<string, Answer>;
  /** Panels whose first answer for this view is still under way. */
  readonly pending: ReadonlySet<string>;
  /** Why the last refresh failed, or null. */
  readonly error: ApiError | null;
  readonly nowMs: number;
}

type Ask1 = (ask: Ask, view: FeedView, signal: AbortSignal) => Promise<Answer>;

/** With no news at all, the time axis still has to move on. */
const IDLE_MS = 2000;

export class LiveFeed {
  private state: FeedState;
  private view: FeedView;
  private key: string;
  /** Answers that belong to the present view; `state.answers` may still show older ones. */
  private held = new Map<string, Answer>();
  private wanted: readonly PanelSignals[] = [];
  private others: readonly PanelSignals[] = [];
  private readonly listeners = new Set<() => void>();
  private flight: AbortController | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private due = Number.POSITIVE_INFINITY;
  private lastStart = 0;
  private lastLate = 0;
  private failures = 0;
  private again = false;
  private hidden = false;
  private readonly ask: Ask1;

  constructor(view: FeedView, ask: Ask1 = askServer) {
    this.view = view;
    this.key = viewKey(view);
    this.ask = ask;
    const nowMs = serverNow();
    this.state = { range: axisRange(view, nowMs), answers: new Map(), pending: new Set(), error: null, nowMs };
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly snapshot = (): FeedState => this.state;

  setView(view: FeedView): void {
    const key = viewKey(view);
    this.view = view;
    if (key === this.key) return;
    this.key = key;
    this.held.clear();
    this.flight?.abort();
    this.flight = null;
    this.failures = 0;
    const nowMs = serverNow();
    this.publish({ range: axisRange(view, nowMs), nowMs, pending: new Set(this.wanted.map(({ panel }) => panel)) });
    this.plan(0);
  }

  /**
   * `wanted`: the panels on the screen, or about to be; they are kept up to date. `others` are asked for once, after
   * those, so that the page knows which of them have any data.
   */
  setWanted(wanted: readonly PanelSignals[], others: readonly PanelSignals[]): void {
    this.wanted = wanted;
    this.others = others;
    if (this.missing(wanted).length > 0)
      this.publish({ pending: new Set(this.missing(wanted).map(({ panel }) => panel)) });
    // What was held while it was out of sight is out of date.
    if (wanted.length > 0 || this.missing(others).length > 0) this.plan(0);
  }

  private missing(panels: readonly PanelSignals[]): readonly PanelSignals[] {
    return panels.filter(({ panel }) => !this.held.has(panel));
  }

  /** Whether what the present answer calls for has been asked for. */
  private knowsAll(panel: PanelSignals): boolean {
    const held = this.held.get(panel.panel);
    return held === undefined || isWhole(held, wholePanel(panel, held));
  }

  /** New samples are committed. */
  news(): void {
    if (!this.live || this.hidden) return;
    const wait = this.lastStart + refreshPeriod(this.state.range) - performance.now();
    this.plan(Math.max(0, wait));
  }

  /** A hidden page asks for nothing; a page that comes back asks at once. */
  setHidden(hidden: boolean): void {
    this.hidden = hidden;
    if (hidden) this.cancelTimer();
    else this.plan(0);
  }

  retry(): void {
    this.failures = 0;
    this.held.clear();
    this.plan(0);
  }

  /** Begins, or begins again after `close`. */
  open(): void {
    this.hidden = false;
    this.plan(0);
  }

  close(): void {
    this.cancelTimer();
    this.flight?.abort();
    this.flight = null;
    this.hidden = true;
  }

  /** What is wanted, without the late values that were asked for a moment ago. */
  private dueNow(): readonly PanelSignals[] {
    const due = performance.now() - this.lastLate >= LATE_REFRESH_MS;
    if (due) this.lastLate = performance.now();
    return this.wanted.filter(({ panel, late }) => due || late !== true || !this.held.has(panel));
  }

  private get live(): boolean {
    return isLive(this.view);
  }

  private plan(waitMs: number): void {
    if (this.hidden) return;
    if (this.flight !== null) {
      this.again = true;
      return;
    }
    const due = performance.now() + waitMs;
    if (due >= this.due) return;
    this.cancelTimer();
    this.due = due;
    this.timer = setTimeout(() => void this.refresh(), waitMs);
  }

  private cancelTimer(): void {
    clearTimeout(this.timer);
    this.due = Number.POSITIVE_INFINITY;
  }

  private async refresh(): Promise<void> {
    this.cancelTimer();
    this.again = false;
    this.lastStart = performance.now();
    const flight = new AbortController();
    this.flight = flight;
    const range = axisRange(this.view, serverNow());
    try {
      // The screen first; only a refresh that has nothing new to load there takes the rest along.
      const rest = this.missing(this.wanted).length > 0 ? [] : this.missing(this.others);
      const due = [...this.dueNow(), ...rest].map((one) => wholePanel(one, this.held.get(one.panel)));
      const asks = planAsks(this.held, due, range);
      const broken = (await Promise.all(asks.map((one) => this.take(one, range, flight.signal)))).some(Boolean);
      if (flight.signal.aborted) return;
      this.failures = 0;
      this.again ||= broken || this.missing(this.others).length > 0 || !this.wanted.every((one) => this.knowsAll(one));
      this.publish({
        range,
        nowMs: serverNow(),
        answers: new Map(this.held),
        error: null,
        pending: new Set(this.missing(this.wanted).map(({ panel }) => panel)),
      });
    } catch (cause) {
      if (flight.signal.aborted) return;
      this.failures += 1;
      const error = cause instanceof ApiError ? cause : new ApiError(0, "client", String(cause));
      this.publish({ error, pending: new Set(), nowMs: serverNow() });
    }
    this.flight = null;
    this.planNext();
  }

  /** Takes one answer in; true when it did not continue what is held, so that the whole range is needed. */
  private async take(ask: Ask, range: Range, signal: AbortSignal): Promise<boolean> {
    const answer = await this.ask(ask, this.view, signal);
    if (signal.aborted) return false;
    let broken = false;
    for (const { panel, signals } of ask.panels) {
      const next = panelAnswer(answer, signals);
      const held = this.held.get(panel);
      const joined = held === undefined ? next : continueAnswer(held, next, range);
      if (joined !== null) this.held.set(panel, joined);
      else if (ask.startMs <= range.startMs) this.held.set(panel, next);
      else {
        this.held.delete(panel);
        broken = true;
      }
    }
    return broken;
  }

  private planNext(): void {
    if (this.failures > 0) this.plan(backoff(this.failures));
    else if (this.again)
      this.plan(this.live ? Math.max(0, this.lastStart + refreshPeriod(this.state.range) - performance.now()) : 0);
    else if (this.live) this.plan(Math.max(IDLE_MS, refreshPeriod(this.state.range)));
  }

  private publish(change: Partial<FeedState>): void {
    this.state = { ...this.state, ...change };
    for (const listener of this.listeners) listener();
  }
}

async function askServer(ask: Ask, view: FeedView, signal: AbortSignal): Promise<Answer> {
  const filters = Object.fromEntries(Object.entries(view.filters).map(([label, values]) => [label, [...values]]));
  const body = {
    signals: ask.panels.flatMap(({ signals }) => [...signals]),
    start_ms: Math.max(0, Math.floor(ask.startMs)),
    end_ms: Math.max(0, Math.ceil(ask.endMs)),
    max_points: ask.maxPoints,
    step_ms: ask.stepMs,
    lang: view.lang,
    filters,
  };
  return answerFromWire(await querySignals(body, signal));
}
