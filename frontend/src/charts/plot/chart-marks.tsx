import { memo, useMemo } from "react";
import { ReferenceArea, ReferenceLine, usePlotArea } from "recharts";
import type { ChartBand, ChartLimit, ChartNote } from "@/charts/chart-types";
import type { Domain } from "@/lib/ticks";
import type { Locale, Range } from "@/lib/time/time";
import { formatValue, type Unit } from "@/lib/units";
import type { PlotModel } from "./plot-model";

/*
 * Each mark is a memo of plain values: Recharts registers a reference element anew in its store whenever it renders,
 * and every axis then computes its domain again. An edge beyond the range is left out rather than moved to the
 * range's end, so that a live axis that moves on leaves the marks alone.
 */

/** Fewer of a run's name would tell nothing. */
const LEAST_LETTERS = 12;

export function Bands(props: { bands: readonly ChartBand[]; range: Range; domain: Domain; pxPerMs: number }) {
  const { bands, range, domain, pxPerMs } = props;
  return bands
    .filter((band) => isInside(range, band.startMs, band.endMs ?? range.endMs))
    .map((band) => {
      const from = Math.max(range.startMs, band.startMs);
      const to = Math.min(range.endMs, band.endMs ?? range.endMs);
      const label = clipLabel(band.label, (to - from) * pxPerMs);
      return (
        <Span key={band.id} {...edges(range, domain, band.startMs, band.endMs)} className="lw-band" label={label} />
      );
    });
}

export function Notes(props: { notes: readonly ChartNote[]; range: Range; domain: Domain; model: PlotModel }) {
  const { notes, range, domain, model } = props;
  return notes
    .filter((note) => isInside(range, note.startMs, note.endMs ?? note.startMs))
    .flatMap((note) => [
      note.endMs !== null && (
        <Span
          key={`${note.id} span`}
          {...edges(range, domain, note.startMs, note.endMs)}
          className="lw-note-span"
          label=""
        />
      ),
      note.startMs >= range.startMs && <NoteLine key={note.id} note={note} model={model} />,
    ]);
}

export function Limits(props: { limits: readonly ChartLimit[]; domain: Domain; unit: Unit; locale: Locale }) {
  const { limits, domain, unit, locale } = props;
  return limits
    .filter((limit) => limit.value >= domain.min && limit.value <= domain.max)
    .map((limit) => <LimitLine key={limit.id} value={limit.value} label={limitText(limit, unit, locale)} />);
}

/** Limits far above the data would press it flat; they are named at the top edge instead. */
export function LimitsAbove(props: { limits: readonly ChartLimit[]; domain: Domain; unit: Unit; locale: Locale }) {
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

interface SpanProps {
  readonly x1?: number;
  readonly x2?: number;
  readonly y1?: number;
  readonly y2?: number;
  readonly className: string;
  readonly label: string;
}

const Span = memo(function Span({ className, label, ...at }: SpanProps) {
  const text = useMemo(() => (label === "" ? false : <BandLabel text={label} />), [label]);
  return <ReferenceArea zIndex={0} {...at} className={className} label={text} />;
});

const NoteLine = memo(function NoteLine({ note, model }: { note: ChartNote; model: PlotModel }) {
  const flag = useMemo(() => <NoteFlag note={note} model={model} />, [note, model]);
  return <ReferenceLine zIndex={0} x={note.startMs} className="lw-note" label={flag} />;
});

const LimitLine = memo(function LimitLine({ value, label }: { value: number; label: string }) {
  const text = useMemo(() => <LimitLabel text={label} />, [label]);
  return <ReferenceLine zIndex={0} y={value} className="lw-limit" label={text} />;
});

interface LabelProps {
  readonly text: string;
  /** Given by Recharts. */
  readonly viewBox?: { readonly x?: number; readonly y?: number; readonly width?: number };
}

function BandLabel({ text, viewBox }: LabelProps) {
  return (
    <text className="lw-band-label" x={(viewBox?.x ?? 0) + 5} y={(viewBox?.y ?? 0) + 12}>
      {text}
    </text>
  );
}

/** Under its line, or above it where it would lie over the time axis. */
function LimitLabel({ text, viewBox }: LabelProps) {
  const area = usePlotArea();
  const right = (viewBox?.x ?? 0) + (viewBox?.width ?? 0);
  const line = viewBox?.y ?? 0;
  const isLow = area !== undefined && line + 14 > area.y + area.height;
  return (
    <text className="lw-limit-label" x={right - 4} y={isLow ? line - 4 : line + 12} textAnchor="end">
      {text}
    </text>
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

function isInside(range: Range, startMs: number, endMs: number): boolean {
  return endMs >= range.startMs && startMs <= range.endMs;
}

function edges(range: Range, domain: Domain, startMs: number, endMs: number | null) {
  const left = startMs > range.startMs ? { x1: startMs } : {};
  const right = endMs !== null && endMs < range.endMs ? { x2: endMs } : {};
  const at = { ...left, ...right };
  // Without any edge Recharts draws nothing, and with one of y only the foot of the axis is marked.
  return Object.keys(at).length > 0 ? at : { y1: domain.min, y2: domain.max };
}

function limitText(limit: ChartLimit, unit: Unit, locale: Locale): string {
  return `${limit.label} ${formatValue(limit.value, unit, locale)}`;
}

/** As much of a label as fits into a width, at about 7 px a letter: whole, or cut after a dozen letters; else nothing. */
function clipLabel(label: string, widthPx: number): string {
  const room = Math.floor((widthPx - 10) / 7);
  if (label.length <= room) return label;
  return room < LEAST_LETTERS ? "" : `${label.slice(0, room - 1)}…`;
}
