import { memo, useCallback, useMemo } from "react";
import type { ChartBand, ChartNote } from "@/charts/chart-types";
import { TimeSeriesChart } from "@/charts/plot/time-series-chart";
import type { Grid, SignalResult } from "@/lib/series/series";
import type { Range } from "@/lib/time/time";
import { type Frame, UNITS } from "./workload";

interface PanelProps {
  readonly index: number;
  readonly grid: Grid;
  readonly result: SignalResult;
  readonly range: Range;
  readonly nowMs: number;
  readonly bands: readonly ChartBand[];
  readonly notes: readonly ChartNote[];
  readonly onZoom: (range: Range) => void;
  readonly onInstant: (timeMs: number) => void;
}

const Panel = memo(function Panel(props: PanelProps) {
  const { index, grid, result, range, nowMs, bands, notes, onZoom, onInstant } = props;
  const series = useMemo(
    () => result.series.map((one) => ({ id: one.name, name: one.name, values: one.values })),
    [result],
  );
  return (
    <TimeSeriesChart
      title={`Chart ${index + 1}`}
      unit={UNITS[index % UNITS.length] ?? "count"}
      height={200}
      staleAfterMs={10_000}
      {...{ grid, series, range, nowMs, bands, notes, onZoom, onInstant }}
    />
  );
});

export function Ours({ frame }: { frame: Frame }) {
  const { answer, range, nowMs, bands, notes } = frame;
  const ignore = useCallback(() => undefined, []);
  return (
    <div className="grid">
      {answer.results.map((result, index) => (
        <Panel
          key={result.signal}
          grid={answer}
          onZoom={ignore}
          onInstant={ignore}
          {...{ index, result, range, nowMs, bands, notes }}
        />
      ))}
    </div>
  );
}
