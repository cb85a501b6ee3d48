/** Runs as bands behind the charts. Pure. */
import type { RunLine } from "@/api/runs/types";
import type { ChartBand } from "@/charts/chart-types";
import { runTitle } from "@/lib/run-text";

/**
 * A run under way has an open end. One that fell silent may have ended at any time, so only its start is drawn. Equal
 * runs give `held` back: charts render their bands anew only when there is something new.
 */
export function runBands(runs: readonly RunLine[], held: readonly ChartBand[]): readonly ChartBand[] {
  const bands = runs.map((run) => ({
    id: run.id,
    label: runTitle(run),
    startMs: run.started_ms,
    endMs: run.ended_ms ?? (run.silent ? run.started_ms : null),
  }));
  const same =
    bands.length === held.length &&
    bands.every((band, place) => {
      const before = held[place];
      return (
        before !== undefined &&
        before.id === band.id &&
        before.label === band.label &&
        before.startMs === band.startMs &&
        before.endMs === band.endMs
      );
    });
  return same ? held : bands;
}
