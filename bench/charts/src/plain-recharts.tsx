import { memo, useMemo } from "react";
import { CartesianGrid, Line, LineChart, ReferenceArea, ReferenceLine, Tooltip, XAxis, YAxis } from "recharts";
import { type Grid, type SignalResult, timeAt } from "@/lib/series/series";
import { formatClock, type Range } from "@/lib/time/time";
import type { Frame } from "./workload";

const COLORS = ["#0b62c4", "#c2500a", "#00806a", "#a32fa0"];
const clock = (timeMs: number) => formatClock(timeMs, "utc", "minute");

/** Recharts as well as it goes by its own means: no animation or dots, linear, fixed size and domain, memo, sync by value. */
const Panel = memo(function Panel(props: {
  width: number;
  grid: Grid;
  result: SignalResult;
  range: Range;
  frame: Pick<Frame, "bands" | "notes">;
}) {
  const { width, grid, result, range, frame } = props;
  const rows = useMemo(
    () =>
      Array.from({ length: grid.count }, (_, index) => {
        const row: Record<string, number | null> = { t: timeAt(grid, index) };
        for (const one of result.series) row[one.name] = one.values[index] ?? null;
        return row;
      }),
    [grid, result],
  );
  const domain = useMemo((): [number, number] => [range.startMs, range.endMs], [range.startMs, range.endMs]);
  return (
    <LineChart width={width} height={228} data={rows} syncId="all" syncMethod="value">
      <CartesianGrid vertical={false} />
      <XAxis dataKey="t" type="number" domain={domain} allowDataOverflow tickFormatter={clock} />
      <YAxis width={56} />
      <Tooltip isAnimationActive={false} />
      {frame.bands.map((band) => (
        <ReferenceArea
          key={band.id}
          x1={Math.max(range.startMs, band.startMs)}
          x2={band.endMs ?? range.endMs}
          ifOverflow="hidden"
        />
      ))}
      {frame.notes.map((note) => (
        <ReferenceLine key={note.id} x={note.startMs} strokeDasharray="3 3" />
      ))}
      {result.series.map((one, place) => (
        <Line
          key={one.name}
          dataKey={one.name}
          type="linear"
          dot={false}
          isAnimationActive={false}
          {...(COLORS[place] === undefined ? {} : { stroke: COLORS[place] })}
        />
      ))}
    </LineChart>
  );
});

export function PlainRecharts({ frame, width }: { frame: Frame; width: number }) {
  return (
    <div className="grid">
      {frame.answer.results.map((result) => (
        <Panel
          key={result.signal}
          width={width}
          grid={frame.answer}
          result={result}
          range={frame.range}
          frame={frame}
        />
      ))}
    </div>
  );
}
