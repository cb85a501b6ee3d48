/** What is said of a run while it lasts, out of its document. Pure. */
import type { KeyFigure, Run } from "@/api/runs/types";
import { ownName } from "@/panels/run/key-figure-model";

/** Seconds that the sender's rate is the mean of. */
const RATE_SECONDS = 3;
const REACHED = 0.99;
/** Seconds cut off a request at either end: at low rates one of them is more than one in a hundred. */
const LEAST_MISSING = 2;
/** A sign of life that is older says nothing of now. */
const STALE_SECONDS = 15;

export interface SentRate {
  readonly value: number;
  /** Null where there was none, or where it grows: then its one figure is that of the top. */
  readonly target: number | null;
  readonly reached: boolean | null;
}

/** What is sent now; null where the sender says nothing, or said it too long ago. */
export function sentRate(run: Run, nowMs: number): SentRate | null {
  const { progress } = run;
  const value = progress?.rate ?? null;
  if (run.state !== "running" || progress === null || value === null) return null;
  if ((nowMs - run.started_ms) / 1000 - progress.elapsed_seconds > STALE_SECONDS) return null;
  const target = run.ramp === null ? (run.target_rate ?? null) : null;
  if (target === null || target <= 0) return { value, target: null, reached: null };
  const missing = (target - value) * RATE_SECONDS;
  return { value, target, reached: value >= REACHED * target || missing < LEAST_MISSING };
}

export function figureOf(run: Run, wanted: (figure: KeyFigure) => boolean): KeyFigure | null {
  return run.key_figures.find(wanted) ?? null;
}

/** By what a figure is found: of those that are not the user's own, only latencies are in seconds. */
export const isLatency = ({ id, unit }: KeyFigure) => unit === "seconds" && ownName(id) === null;

export interface FailedShare {
  /** Null where nothing tells. */
  readonly value: number | null;
  /** Outcomes of failed requests, the most frequent first. */
  readonly kinds: readonly string[];
}

/** The share that failed, as the document has it; while that has none, as the sender counts. */
export function failedShare(run: Run, figure: KeyFigure): FailedShare {
  const { requests, failures } = run.progress ?? {};
  if (figure.value !== null || run.state !== "running" || requests == null || failures == null || requests === 0)
    return { value: figure.value, kinds: figure.kinds };
  return { value: failures / requests, kinds: [] };
}

/** Parameters as one types them. */
export function parametersOf({ scenario, parameters }: Pick<Run, "scenario" | "parameters">): string {
  const pairs = Object.entries(parameters ?? {}).map(([name, value]) => `${name}=${value}`);
  return [scenario, ...pairs].filter((part) => part !== "").join(" · ");
}

/** Thresholds on response times as lines of a chart; a percentile that nobody draws has none. */
export interface ThresholdLine {
  readonly id: string;
  readonly label: string;
  readonly value: number;
}

const DRAWN = ["p50", "p90", "p95", "p99", "max"];

/** One line for what several runs have alike; of others all are drawn. */
export function thresholdLines(runs: readonly Run[]): readonly ThresholdLine[] {
  const lines = runs
    .filter(({ silent }) => !silent)
    .flatMap(({ thresholds }) => thresholds)
    .filter(({ metric, limit, operator }) => DRAWN.includes(metric) && limit !== null && operator.startsWith("<"))
    .map(({ metric, operator, limit }) => ({
      id: `${metric} ${limit}`,
      label: `${metric} ${operator}`,
      value: limit ?? 0,
    }));
  return [...new Map(lines.map((line) => [line.id, line])).values()];
}
