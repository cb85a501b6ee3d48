import { memo, type ReactNode, type RefObject, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import "@/charts/palette.css";
import "@/charts/charts.css";
import "@/charts/legend/legend.css";
import { useChartSettings } from "@/charts/chart-settings";
import type { ChartBand, ChartLateness, ChartLimit, ChartNote, ChartSeries, ScreenPoint } from "@/charts/chart-types";
import { briefNames } from "@/charts/legend/brief-names";
import { Legend, type LegendEntry, type LegendKind } from "@/charts/legend/legend";
import { bodyHeight, endsWidth, headWidth, type LegendPlace, legendPlace } from "@/charts/legend/legend-place";
import { nextHidden } from "@/charts/legend/visibility";
import { hasEnded, judgedSampleMs } from "@/charts/lines/reading";
import { layersExtent, stackLayers } from "@/charts/lines/stacking";
import type { TimeAxis } from "@/charts/lines/time-axis";
import type { ChartMessages } from "@/charts/messages";
import { useSize } from "@/charts/use-size";
import { assignPlaces } from "@/lib/series/palette-places";
import { type Grid, indexRange, summarize } from "@/lib/series/series";
import { type Domain, valueDomain } from "@/lib/ticks";
import { formatDuration, type Range } from "@/lib/time/time";
import { formatValue, type Unit, unitLabel } from "@/lib/units";
import { ChartFrame, valueTickCount } from "./chart-frame";
import { ChartHead } from "./chart-head";
import { type ChartPhase, ChartStatus } from "./chart-status";
import { attachInteraction } from "./plot-interaction";
import { PlotModel } from "./plot-model";
import { useNear } from "./use-near";
import { useStable } from "./use-stable";
import { useStaggered } from "./use-staggered";

export interface TimeSeriesChartProps {
  readonly title: string;
  readonly unit: Unit;
  /** Shown on hover of the title. */
  readonly help?: string;
  /** What the X axis spans; snap a live one by `liveRange`, so that axes stay still. */
  readonly range: Range;
  /** `elapsed` counts all times of this chart in milliseconds since a common zero, such as the start of each run. */
  readonly axis?: TimeAxis;
  readonly grid: Grid;
  /** Each pair of neighbouring points holds the extrema of a bucket. */
  readonly reduced?: boolean;
  readonly series: readonly ChartSeries[];
  readonly limits?: readonly ChartLimit[];
  readonly bands?: readonly ChartBand[];
  readonly notes?: readonly ChartNote[];
  /** Present time by the server's clock; with `staleAfterMs` it tells whether the last sample is old. */
  readonly nowMs?: number | null;
  readonly staleAfterMs?: number | null;
  /** What each point is the mean of, where it is more than the eye takes for an instant. */
  readonly meanMs?: number | null;
  /** Values that come late: what is still to come is hatched. */
  readonly late?: ChartLateness | null;
  /** Least and greatest value of charts that share one axis with this one. */
  readonly common?: { readonly min: number; readonly max: number } | null;
  readonly loading?: boolean;
  readonly error?: string | null;
  /** What is missing from the data shown; a short text. */
  readonly partial?: string | null;
  /** What would provide data, shown when there is none. */
  readonly emptyHint?: ReactNode;
  /** Height of the plot with its time axis above a legend of two rows, in pixels: without rows it has their room too. */
  readonly height?: number;
  readonly legend?: LegendKind | "none";
  /** Buttons at the right of the title. */
  readonly actions?: ReactNode;
  readonly onZoom?: (range: Range) => void;
  readonly onZoomOut?: () => void;
  /** A click, or Enter at the crosshair: a time to annotate. */
  readonly onInstant?: (timeMs: number, at: ScreenPoint) => void;
  readonly onNote?: (id: string) => void;
}

const NOTHING: never[] = [];
const EMPTY_DOMAIN: Domain = { min: 0, max: 1 };
const NONE_HIDDEN: ReadonlySet<string> = new Set<string>();

/** One chart of lines, steps or stacked areas over time. Data reaches the plot in a task of its own; see `useStaggered`. */
export const TimeSeriesChart = memo(function TimeSeriesChart(props: TimeSeriesChartProps) {
  const root = useRef<HTMLElement>(null);
  const shown = useStaggered(props, useNear(root));
  const body = shown ?? { ...props, loading: true, series: NOTHING, error: null };
  return <StaggeredChart {...body} root={root} latest={props} />;
});

const StaggeredChart = memo(
  ChartBody,
  // `latest` carries callbacks only; a change of it alone must not render before the chart's turn.
  (before, after) =>
    Object.keys(after).every(
      (key) => key === "latest" || before[key as keyof BodyProps] === after[key as keyof BodyProps],
    ) && Object.keys(before).length === Object.keys(after).length,
);

type Extent = NonNullable<TimeSeriesChartProps["common"]>;

type BodyProps = TimeSeriesChartProps & {
  readonly root: RefObject<HTMLElement | null>;
  readonly latest: TimeSeriesChartProps;
};

function ChartBody(props: BodyProps) {
  const { title, unit, grid, series, reduced = false, nowMs = null, staleAfterMs = null } = props;
  const { axis = "time" } = props;
  const { locale, timeZone, messages } = useChartSettings();
  const range = useStable(props.range);
  const limits = useStable(props.limits ?? NOTHING);
  const bands = useStable(props.bands ?? NOTHING);
  const notes = useStable(props.notes ?? NOTHING);
  const late = props.late ?? null;
  const [hidden, setHidden] = useState(NONE_HIDDEN);
  const [model] = useState(() => new PlotModel());
  const plot = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const { width, height } = useSize(plot);

  const slots = useSlots(series);
  const visible = hidden.size === 0 ? series : series.filter((one) => !hidden.has(one.id));
  const layers = stackLayers(visible, grid.count);
  const extent = layersExtent(layers, grid, range);
  const domain = useDomain(union(extent, props.common ?? null), limits, unit, valueTickCount(height));
  const phase = phaseOf(props, extent !== null || series.some((one) => hidden.has(one.id)));
  const [from, to] = indexRange(grid, range.startMs, range.endMs);
  const listed = series.filter((one) => one.faint !== true);
  const names = useStable(listed.map(({ name, brief = name }) => brief));
  const { briefs, common } = useMemo(() => briefNames(names), [names]);
  const newest = axis === "elapsed" ? null : judgedSampleMs(grid, listed);
  const entries = listed.map((one, place): LegendEntry => {
    const summary = summarize(one.values, from, to);
    const ended = hasEnded(grid, one, newest, props.meanMs ?? 0);
    return {
      series: one,
      brief: briefs[place] ?? one.name,
      slot: slots.get(one.id) ?? place,
      summary: ended ? { ...summary, last: null } : summary,
    };
  });

  useLayoutEffect(() => {
    const text = { title, unit, locale, timeZone, axis, messages };
    model.setView({ grid, reduced, series: visible, slots, bands, notes, layers, text, staleAfterMs, nowMs, late });
  });
  useOverlay(plot, model, props.latest);
  const asked = props.legend ?? "list";
  const outer = useSize(body);
  const ends = endsWidth(briefs);
  const mean = props.meanMs == null ? "" : ` · ${messages.meanOf(formatDuration(props.meanMs, locale))}`;
  const head = headWidth([title, unitLabel(unit, locale), mean, ...briefs]);
  const place = legendPlace(asked, listed.length, { ...outer, ends, head });
  useEndLabels(body, model, place);

  const legend = place !== "none" && (
    <Legend
      key={place}
      {...{ place, title, entries, hidden, unit, locale, messages }}
      width={place === "ends" ? ends : outer.width}
      onPick={(id, toggle) =>
        setHidden((now) =>
          nextHidden(
            listed.map((one) => one.id),
            now,
            id,
            toggle,
          ),
        )
      }
      onEmphasize={(id) => model.emphasize(id)}
    />
  );
  const ready = phase.kind === "ready" || phase.kind === "empty";
  return (
    <figure
      ref={props.root}
      className="lw-chart"
      aria-label={messages.summary(title, unitLabel(unit, locale), series.length)}
    >
      <ChartHead
        {...props}
        hasData={extent !== null}
        shared={common}
        only={place === "title" && listed.length > 0 ? legend : null}
      />
      <div ref={body} className="lw-body" data-legend={place} style={{ height: bodyHeight(asked, props.height) }}>
        <div ref={plot} className="lw-plot" data-phase={phase.kind}>
          {ready && width > 0 && height > 0 && (
            <ChartFrame
              {...{ width, height, range, axis, domain, unit, locale, timeZone, limits, bands, notes, model }}
            />
          )}
          <div
            className="lw-surface"
            role="application"
            tabIndex={phase.kind === "ready" ? 0 : -1}
            aria-roledescription={messages.chart}
            aria-label={surfaceLabel(title, entries, unit, locale, messages)}
            data-surface=""
          >
            <div className="lw-crosshair" data-crosshair="" />
            <div className="lw-selection" data-selection="" hidden />
          </div>
          <ChartStatus phase={phase} messages={messages} />
          <div className="lw-hidden" aria-live="polite" data-live="" />
        </div>
        {(place === "below" || place === "ends") && legend}
      </div>
      {place === "table" && legend}
    </figure>
  );
}

function union(one: Extent | null, other: Extent | null): Extent | null {
  if (one === null || other === null) return one ?? other;
  return { min: Math.min(one.min, other.min), max: Math.max(one.max, other.max) };
}

function surfaceLabel(
  title: string,
  entries: readonly LegendEntry[],
  unit: Unit,
  locale: "en" | "ja",
  messages: ChartMessages,
): string {
  const text = (value: number | null) => formatValue(value, unit, locale);
  const lines = entries
    .slice(0, 6)
    .map(({ series, summary }) =>
      messages.summarySeries(series.name, text(summary.last), text(summary.min), text(summary.max)),
    );
  return [title, ...lines, messages.keys].join(". ");
}

function phaseOf(props: BodyProps, hasData: boolean): ChartPhase {
  if (hasData) return { kind: "ready" };
  if (props.error != null) return { kind: "error", message: props.error };
  if (props.loading === true) return { kind: "loading" };
  return { kind: "empty", hint: props.emptyHint ?? null };
}

/** Place of each series in the palette. A series keeps its place for as long as the chart lives. */
function useSlots(series: readonly ChartSeries[]): ReadonlyMap<string, number> {
  const [slots, setSlots] = useState<ReadonlyMap<string, number>>(() => assignPlaces(series, new Map()));
  if (series.every((one) => slots.has(one.id) && (one.slot === undefined || slots.get(one.id) === one.slot))) {
    return slots;
  }
  const next = assignPlaces(series, slots);
  setSlots(next);
  return next;
}

/** The value axis' domain: it follows the data in rare steps, and shows a limit that is not far above the data. */
function useDomain(
  extent: { readonly min: number; readonly max: number } | null,
  limits: readonly ChartLimit[],
  unit: Unit,
  ticks: number,
): Domain {
  const [domain, setDomain] = useState<Domain | null>(null);
  const near = limits.map((limit) => limit.value).filter((value) => extent === null || value <= extent.max * 3);
  const greatest = Math.max(extent?.max ?? Number.NEGATIVE_INFINITY, ...near);
  // The stand-in for "no data" must not be held against the first data.
  if (!Number.isFinite(greatest)) return domain ?? EMPTY_DOMAIN;
  const next = valueDomain(extent?.min ?? null, greatest, unit, ticks, domain);
  // By value: what fits no domain well, such as 0.48 on whole numbers, gets an equal one each time.
  if (next.min !== domain?.min || next.max !== domain.max) setDomain(next);
  return next;
}

/** The legend whose entries the model moves beside the ends of their lines. */
function useEndLabels(body: RefObject<HTMLDivElement | null>, model: PlotModel, place: LegendPlace) {
  useLayoutEffect(() => {
    model.labelEnds(place === "ends" ? (body.current?.querySelector<HTMLElement>("ul.lw-legend") ?? null) : null);
  });
}

/** Joins the model to the elements above the plot and to the crosshair that all charts share. */
function useOverlay(plot: RefObject<HTMLDivElement | null>, model: PlotModel, latest: TimeSeriesChartProps) {
  const { group } = useChartSettings();
  const callbacks = useRef(latest);
  useEffect(() => {
    callbacks.current = latest;
    model.onNote = latest.onNote ?? null;
  });
  const parts = useMemo(() => (name: string) => plot.current?.querySelector<HTMLElement>(`[data-${name}]`), [plot]);
  useLayoutEffect(() => {
    const surface = parts("surface");
    const crosshair = parts("crosshair");
    const selection = parts("selection");
    const live = parts("live");
    if (!surface || !crosshair || !selection || !live) return;
    const leave = model.attachOverlay({ surface, crosshair, selection, live }, group);
    const detach = attachInteraction(surface, model, group, () => callbacks.current);
    return () => {
      detach();
      leave();
    };
  }, [model, group, parts]);
}
