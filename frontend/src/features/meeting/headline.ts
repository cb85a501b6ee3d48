/** What one screen of the meeting says in figures: a run against its scenario's baseline. Pure. */
import type { ResourceReached, Review, Threshold, Run as WholeRun } from "@/api/runs/types";
import { relativeChange } from "@/lib/run-text";
import type { Unit } from "@/lib/units";

/** A meeting needs no error texts. */
export type Run = Omit<WholeRun, "errors">;

export type FigureId = "ok_rate" | "p95" | "p99" | "error_rate";

export interface HeadlineFigure {
  readonly id: FigureId;
  readonly unit: Unit;
  readonly value: number | null;
  readonly baseline: number | null;
  /** Relative to the baseline; null without one, or when it is 0. */
  readonly change: number | null;
}

/** Figures of the steady window, or of the whole run when there is none. */
function windowOf(run: Run) {
  const { steady } = run;
  if (steady !== null) return { rate: steady.rate, success: steady.success_ratio, latency: steady.latency_seconds };
  return { rate: run.rate, success: run.success_ratio, latency: run.latency_seconds };
}

function read(run: Run): Readonly<Record<FigureId, number | null>> {
  const { rate, success, latency } = windowOf(run);
  return {
    ok_rate: rate === null || success === null ? null : rate * success,
    p95: latency.p95,
    p99: latency.p99,
    error_rate: success === null ? null : 1 - success,
  };
}

const UNITS: Readonly<Record<FigureId, Unit>> = {
  ok_rate: "per_second",
  p95: "seconds",
  p99: "seconds",
  error_rate: "ratio",
};

export function headline(run: Run, baseline: Run | null): readonly HeadlineFigure[] {
  const own = read(run);
  const other = baseline === null || baseline.id === run.id ? null : read(baseline);
  return (Object.keys(UNITS) as FigureId[]).map((id) => ({
    id,
    unit: UNITS[id],
    value: own[id],
    baseline: other?.[id] ?? null,
    change: relativeChange(own[id], other?.[id]),
  }));
}

const MOST_SHOWN = 4;

/** The resources that came nearest to their limit; which of them did harm is for the findings to say. */
export function reachedLimits(resources: readonly ResourceReached[]): readonly ResourceReached[] {
  return resources.toSorted((a, b) => b.ratio_max - a.ratio_max).slice(0, MOST_SHOWN);
}

export interface Impact {
  readonly expression: string;
  readonly expected: number | null;
  readonly actual: number | null;
  readonly baseline: number | null;
  readonly unit: string;
  readonly state: Threshold["state"];
}

/** What was expected and what was measured: as the review says, else as the run was started with. */
export function impacts(run: Run, review: Review | null): readonly Impact[] {
  const written = (review?.measured ?? []).filter(({ expected }) => expected !== null);
  if (written.length > 0) return written;
  return run.expectations.map(({ expression, limit, actual, unit, state }) => ({
    ...{ expression, expected: limit, actual, unit, state },
    baseline: null,
  }));
}

/** Thresholds, those that failed first. */
export function sortedThresholds(thresholds: readonly Threshold[]): readonly Threshold[] {
  const rank = { failed: 0, unknown: 1, passed: 2 } as const;
  return [...thresholds].sort((a, b) => rank[a.state] - rank[b.state]);
}

/** Where the meeting stands: a run of the list, or its end. */
export interface Place {
  readonly index: number;
  readonly count: number;
}

/** From the address: `end`, a run's id, or nothing. */
export function placeOf(runs: readonly string[], at: string | null): Place {
  const count = runs.length;
  if (at === "end") return { index: count, count };
  const found = at === null ? 0 : runs.indexOf(at);
  return { index: Math.max(0, found), count };
}

export function addressOf(runs: readonly string[], index: number): string {
  return runs[Math.max(0, index)] ?? "end";
}
