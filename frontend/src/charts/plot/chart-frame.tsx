import { memo, useMemo } from "react";
import { CartesianGrid, ComposedChart, XAxis, YAxis } from "recharts";
import type { ChartBand, ChartLimit, ChartNote } from "@/charts/chart-types";
import { type TimeAxis, tickText } from "@/charts/lines/time-axis";
import { bottomTick, valueTick } from "@/charts/tick-text";
import { type Domain, timeTicks, valueTicks } from "@/lib/ticks";
import type { Locale, Range, TimeZone } from "@/lib/time/time";
import { axisFormatter, type Unit } from "@/lib/units";
import { Bands, Limits, LimitsAbove, Notes } from "./chart-marks";
import { PlotLayer } from "./plot-layer";
import type { PlotModel } from "./plot-model";

export interface FrameProps {
  readonly width: number;
  readonly height: number;
  readonly range: Range;
  readonly axis: TimeAxis;
  readonly domain: Domain;
  readonly unit: Unit;
  readonly locale: Locale;
  readonly timeZone: TimeZone;
  readonly limits: readonly ChartLimit[];
  readonly bands: readonly ChartBand[];
  readonly notes: readonly ChartNote[];
}

/** Right: half of a time at the very end of the axis. */
const MARGIN = { top: 14, right: 28, bottom: 0, left: 0 } as const;
const X_AXIS_HEIGHT = 22;
const NO_DATA: never[] = [];
/** Most value ticks that a plot of this height takes. */
export function valueTickCount(height: number): number {
  return Math.max(2, Math.min(8, Math.floor(height / 42)));
}

/** Axis ticks carry the scale alone; that it is a rate stands in the title. */
export const TICK_UNIT: Readonly<Record<Unit, Unit>> = {
  seconds: "seconds",
  bytes: "bytes",
  ratio: "ratio",
  count: "count",
  per_second: "count",
  bytes_per_second: "bytes",
};

function yAxis(domain: Domain, height: number, unit: Unit, locale: Locale) {
  const ticks = valueTicks(domain, valueTickCount(height), unit);
  const format = axisFormatter(TICK_UNIT[unit], ticks.step, Math.max(domain.max, -domain.min), locale);
  const longest = Math.max(...ticks.values.map((value) => format(value).length), 1);
  // Steps of 8 px keep the plot still when a label gains a digit.
  const width = Math.max(40, Math.ceil((longest * 7 + 12) / 8) * 8);
  return { ticks: [...ticks.values], format, width };
}

/**
 * Axes, grid, bands and limit lines, drawn by Recharts. Rendered only when scale, size or marks change: data goes
 * past React to the model. `zIndex` 0 spares Recharts' portals, so the order below is the order of painting.
 */
export const ChartFrame = memo(function ChartFrame(props: FrameProps & { model: PlotModel }) {
  const { width, height, range, axis, domain, unit, locale, timeZone, limits, bands, notes, model } = props;
  const y = useMemo(() => yAxis(domain, height, unit, locale), [domain, height, unit, locale]);
  // An elapsed time is no wall clock: its round hours are counted from zero.
  const zone = axis === "elapsed" ? "utc" : timeZone;
  const x = useMemo(() => {
    const room = width - y.width - MARGIN.right;
    const ticks = timeTicks(range.startMs, range.endMs, Math.max(2, Math.floor(room / 72)), zone);
    return { step: ticks.step, values: [...ticks.values] };
  }, [range, width, y.width, zone]);
  const timeLabel = useMemo(
    () => (timeMs: number) => tickText(axis, timeMs, x.step, zone, locale),
    [axis, x.step, zone, locale],
  );
  const xDomain = useMemo((): [number, number] => [range.startMs, range.endMs], [range]);
  const yDomain = useMemo((): [number, number] => [domain.min, domain.max], [domain]);
  const pxPerMs = (width - y.width - MARGIN.right) / (range.endMs - range.startMs);

  return (
    <ComposedChart width={width} height={height} margin={MARGIN} data={NO_DATA} accessibilityLayer={false}>
      <Bands bands={bands} range={range} domain={domain} pxPerMs={pxPerMs} />
      <CartesianGrid vertical={false} className="lw-grid" zIndex={0} />
      <XAxis
        dataKey="t"
        type="number"
        domain={xDomain}
        allowDataOverflow
        ticks={x.values}
        tickFormatter={timeLabel}
        interval={0}
        height={X_AXIS_HEIGHT}
        tick={bottomTick}
        tickSize={4}
      />
      <YAxis
        type="number"
        domain={yDomain}
        allowDataOverflow
        ticks={y.ticks}
        tickFormatter={y.format}
        interval={0}
        width={y.width}
        tick={valueTick}
        tickSize={0}
        tickMargin={6}
        axisLine={false}
      />
      <PlotLayer model={model} />
      <Limits {...{ limits, domain, unit, locale }} />
      <LimitsAbove {...{ limits, domain, unit, locale }} />
      <Notes {...{ notes, range, domain, model }} />
    </ComposedChart>
  );
});
