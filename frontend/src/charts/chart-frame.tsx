import { memo, useMemo } from "react";
import { CartesianGrid, ComposedChart, ReferenceArea, ReferenceLine, usePlotArea, XAxis, YAxis } from "recharts";
import type { ChartBand, ChartLimit, ChartNote } from "@/charts/chart-types";
import { PlotLayer } from "@/charts/plot-layer";
import type { PlotModel } from "@/charts/plot-model";
import { type Domain, timeTicks, valueTicks } from "@/lib/ticks";
import { formatTick, type Locale, type Range, type TimeZone } from "@/lib/time";
import { axisFormatter, formatValue, type Unit } from "@/lib/units";

export interface FrameProps {
  readonly width: number;
  readonly height: number;
  readonly range: Range;
  readonly domain: Domain;
  readonly unit: Unit;
  readonly locale: Locale;
  readonly timeZone: TimeZone;
  readonly limits: readonly ChartLimit[];
  readonly bands: readonly ChartBand[];
  readonly notes: readonly ChartNote[];
}

const MARGIN = { top: 14, right: 12, bottom: 0, left: 0 } as const;
const X_AXIS_HEIGHT = 22;
const NO_DATA: never[] = [];
const TICK = { fontSize: 11, className: "lw-tick" } as const;

/** Most value ticks that a plot of this height takes. */
export function valueTickCount(height: number): number {
  return Math.max(2, Math.min(8, Math.floor(height / 42)));
}

/** Axis ticks carry the scale alone; that it is a rate stands in the title. */
const TICK_UNIT: Readonly<Record<Unit, Unit>> = {
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
  const width = Math.max(40, Math.ceil((longest * 6.4 + 12) / 8) * 8);
  return { ticks: [...ticks.values], format, width };
}

function inside(range: Range, startMs: number, endMs: number): boolean {
  return endMs >= range.startMs && startMs <= range.endMs;
}

/**
 * Axes, grid, bands and limit lines, drawn by Recharts. Rendered only when scale, size or marks change: data goes
 * past React to the model. `zIndex` 0 spares Recharts' portals, so the order below is the order of painting.
 */
export const ChartFrame = memo(function ChartFrame(props: FrameProps & { model: PlotModel }) {
  const { width, height, range, domain, unit, locale, timeZone, limits, bands, notes, model } = props;
  const y = useMemo(() => yAxis(domain, height, unit, locale), [domain, height, unit, locale]);
  const x = useMemo(() => {
    const room = width - y.width - MARGIN.right;
    const ticks = timeTicks(range.startMs, range.endMs, Math.max(2, Math.floor(room / 66)), timeZone);
    return { step: ticks.step, values: [...ticks.values] };
  }, [range, width, y.width, timeZone]);
  const timeLabel = useMemo(
    () => (timeMs: number) => formatTick(timeMs, x.step, timeZone, locale),
    [x.step, timeZone, locale],
  );
  const xDomain = useMemo((): [number, number] => [range.startMs, range.endMs], [range]);
  const yDomain = useMemo((): [number, number] => [domain.min, domain.max], [domain]);
  const pxPerMs = (width - y.width - MARGIN.right) / (range.endMs - range.startMs);

  return (
    <ComposedChart width={width} height={height} margin={MARGIN} data={NO_DATA} accessibilityLayer={false}>
      {bands
        .filter((band) => inside(range, band.startMs, band.endMs ?? range.endMs))
        .map((band) => {
          const from = Math.max(range.startMs, band.startMs);
          const to = Math.min(range.endMs, band.endMs ?? range.endMs);
          const room = (to - from) * pxPerMs;
          return (
            <ReferenceArea
              key={band.id}
              zIndex={0}
              x1={from}
              x2={to}
              className="lw-band"
              label={
                room > 40
                  ? { value: clip(band.label, room), position: "insideTopLeft", className: "lw-band-label", zIndex: 0 }
                  : false
              }
            />
          );
        })}
      <CartesianGrid vertical={false} className="lw-grid" zIndex={0} />
      <XAxis
        dataKey="t"
        type="number"
        domain={xDomain}
        allowDataOverflow
        ticks={x.values}
        tickFormatter={timeLabel}
        interval="preserveStart"
        minTickGap={12}
        height={X_AXIS_HEIGHT}
        tick={TICK}
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
        tick={TICK}
        tickSize={0}
        tickMargin={6}
        axisLine={false}
      />
      <PlotLayer model={model} />
      {limits
        .filter((limit) => limit.value >= domain.min && limit.value <= domain.max)
        .map((limit) => (
          <ReferenceLine
            key={limit.id}
            zIndex={0}
            y={limit.value}
            className="lw-limit"
            label={{
              value: limitText(limit, unit, locale),
              position: "insideTopRight",
              className: "lw-limit-label",
              zIndex: 0,
            }}
          />
        ))}
      <LimitsAbove limits={limits} domain={domain} unit={unit} locale={locale} />
      {notes
        .filter((note) => inside(range, note.startMs, note.endMs ?? note.startMs))
        .map((note) => (
          <NoteMark key={note.id} note={note} range={range} model={model} />
        ))}
    </ComposedChart>
  );
});

function limitText(limit: ChartLimit, unit: Unit, locale: Locale): string {
  return `${limit.label} ${formatValue(limit.value, unit, locale)}`;
}

/** Limits far above the data would press it flat; they are named at the top edge instead. */
function LimitsAbove(props: Pick<FrameProps, "limits" | "domain" | "unit" | "locale">) {
  const { limits, domain, unit, locale } = props;
  const area = usePlotArea();
  const above = limits.filter((limit) => limit.value > domain.max);
  if (area === undefined || above.length === 0) return null;
  return (
    <text className="lw-limit-label" x={area.x + area.width} y={area.y - 4} textAnchor="end">
      {above.map((limit) => `↑ ${limitText(limit, unit, locale)}`).join("  ")}
    </text>
  );
}

function NoteMark({ note, range, model }: { note: ChartNote; range: Range; model: PlotModel }) {
  const { startMs, endMs } = note;
  return (
    <>
      {endMs !== null && (
        <ReferenceArea
          zIndex={0}
          x1={Math.max(range.startMs, startMs)}
          x2={Math.min(range.endMs, endMs)}
          className="lw-note-span"
        />
      )}
      {startMs >= range.startMs && (
        <ReferenceLine zIndex={0} x={startMs} className="lw-note" label={<NoteFlag note={note} model={model} />} />
      )}
    </>
  );
}

/** A flag above the plot; the same notes are listed for keyboard users by the page and read with the crosshair. */
function NoteFlag(props: { note: ChartNote; model: PlotModel; viewBox?: { x?: number; y?: number } }) {
  const { note, model, viewBox } = props;
  const { x = 0, y = 0 } = viewBox ?? {};
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a shortcut for the mouse; the list of notes has the button
    <g transform={`translate(${x},${y})`} className="lw-flag" onClick={() => model.onNote?.(note.id)}>
      <title>{note.author ? `${note.text} (${note.author})` : note.text}</title>
      <rect x={-7} y={-14} width={14} height={14} fill="transparent" />
      <path d="M-4,-11H4V-5L0,0L-4,-5Z" />
    </g>
  );
}

/** As much of a label as fits into a width, at about 6 px a letter. */
function clip(label: string, widthPx: number): string {
  const room = Math.floor((widthPx - 10) / 6);
  return label.length <= room ? label : `${label.slice(0, Math.max(1, room - 1))}…`;
}
