/** From a run's per-second series to what its charts draw. Pure. */
import type { RunSeconds } from "@/api/runs/types";
import type { ChartSeries } from "@/charts/chart-types";
import { LATENCIES } from "@/lib/run-text";
import { OUTCOME_PLACES, OUTCOMES, type Outcome, QUANTILE_PLACES } from "@/lib/series/palette-places";
import type { Grid, Values } from "@/lib/series/series";
import type { Range } from "@/lib/time/time";
import { cutGrid } from "./cut-grid";

export interface LoadSeries {
  readonly grid: Grid;
  readonly rate: readonly ChartSeries[];
  readonly latency: readonly ChartSeries[];
  readonly failures: readonly ChartSeries[];
  readonly bytes: readonly ChartSeries[];
  readonly users: readonly ChartSeries[];
}

export interface LoadNames {
  readonly outcome: (outcome: Outcome) => string;
  readonly max: string;
  readonly bytesIn: string;
  readonly bytesOut: string;
  readonly users: string;
}

const hasAny = (values: Values | null | undefined): values is Values =>
  values?.some((value) => value !== null) ?? false;

export function loadSeries(seconds: RunSeconds, range: Range, names: LoadNames): LoadSeries {
  const whole = { startMs: seconds.start_ms, stepMs: seconds.step_ms, count: seconds.count };
  const { grid, cut } = cutGrid(whole, range);
  const outcomes = OUTCOMES.filter((outcome) => hasAny(seconds.outcomes[outcome]));
  const line = (id: string, name: string, values: Values | null | undefined, slot: number): ChartSeries[] =>
    hasAny(values) ? [{ id, name, values: cut(values), slot }] : [];
  const outcomeSeries = (outcome: Outcome) => ({
    id: outcome,
    name: names.outcome(outcome),
    values: cut(seconds.outcomes[outcome] ?? []),
    slot: OUTCOME_PLACES[outcome],
  });
  return {
    grid,
    rate: outcomes.map((outcome) => ({ ...outcomeSeries(outcome), kind: "area" as const, stack: "outcomes" })),
    latency: LATENCIES.flatMap((id) =>
      line(id, id === "max" ? names.max : id, seconds.latency_seconds[id], QUANTILE_PLACES[id] ?? 0),
    ),
    failures: outcomes.filter((outcome) => outcome !== "ok").map(outcomeSeries),
    bytes: [...line("in", names.bytesIn, seconds.bytes_in, 0), ...line("out", names.bytesOut, seconds.bytes_out, 1)],
    users: line("users", names.users, seconds.users, 0),
  };
}
