import { type KeyboardEvent, memo, type PointerEvent, type ReactNode, useMemo, useRef, useState } from "react";
import "@/charts/charts.css";
import "@/charts/palette.css";
import "@/charts/plot/tooltip.css";
import "./xy-chart.css";
import { CartesianGrid, ComposedChart, XAxis, YAxis } from "recharts";
import { useChartSettings } from "@/charts/chart-settings";
import { seriesLook } from "@/charts/palette";
import { TICK_UNIT, valueTickCount } from "@/charts/plot/chart-frame";
import { bottomTick, rightTick, valueTick } from "@/charts/tick-text";
import { useSize } from "@/charts/use-size";
import { valueTicks } from "@/lib/ticks";
import { axisFormatter, formatValue, type Unit, unitLabel } from "@/lib/units";
import { XyLayer, XyShape } from "./xy-layer";
import { nearestPoint, scaled, spacedTicks, xyDomain, xyValueDomain } from "./xy-scale";
import type { XyLevel, XyMark, XyPoint, XyScale, XySecond, XyTick } from "./xy-types";

export interface XyChartProps {
  readonly title: string;
  readonly unit: Unit;
  readonly help?: string;
  readonly points: readonly XyPoint[];
  /** Candidates for labels of the horizontal axis; those that keep apart are shown. */
  readonly ticks: readonly XyTick[];
  readonly axisTitle?: string;
  readonly scale?: XyScale;
  readonly marks?: readonly XyMark[];
  readonly levels?: readonly XyLevel[];
  readonly second?: XySecond;
  /** A line through the points. */
  readonly joined?: boolean;
  /** The value axis may begin above zero when that shows more; a badge says so. */
  readonly tight?: boolean;
  readonly slot?: number;
  readonly height?: number;
  /** The point that is read, shared by charts over the same points. */
  readonly active: string | null;
  readonly onActive: (id: string | null) => void;
  /** A click on a point, or Enter at it. */
  readonly onPick?: (id: string) => void;
  readonly actions?: ReactNode;
}

const NOTHING: never[] = [];
/** The same in every chart, so that charts above each other share their axis. */
const VALUE_AXIS = 62;
const BOTTOM_AXIS = 22;
const BOTTOM_AXIS_TWO_LINES = 36;

/** A figure over numbers that are not time, or over runs one by one: points, error bars and marks. */
export const XyChart = memo(function XyChart(props: XyChartProps) {
  const {
    title,
    unit,
    points,
    scale = "linear",
    marks = NOTHING,
    levels = NOTHING,
    height = 240,
    tight = false,
    second,
  } = props;
  const { active, onActive, onPick } = props;
  const { locale, messages } = useChartSettings();
  const plot = useRef<HTMLDivElement>(null);
  const { width } = useSize(plot);
  const [said, say] = useState("");
  const top = marks.length > 1 ? 32 : 20;
  const bottom = props.ticks.some(({ label }) => label.includes("\n")) ? BOTTOM_AXIS_TWO_LINES : BOTTOM_AXIS;
  const right = second === undefined ? 14 : 0;
  const margin = useMemo(() => ({ top, right, bottom: 0, left: 0 }), [top, right]);
  const inner = Math.max(0, width - VALUE_AXIS - (second === undefined ? right : VALUE_AXIS));
  const domain = useMemo(
    () =>
      xyDomain(
        points.map(({ x }) => x),
        scale,
      ),
    [points, scale],
  );
  const y = useMemo(
    () => valueAxis(points, unit, height - top, tight, locale),
    [points, unit, height, top, tight, locale],
  );
  const other = useMemo(
    () => (second === undefined ? null : valueAxis(second.points, second.unit, height - top, tight, locale)),
    [second, height, top, tight, locale],
  );
  const x = useMemo(() => {
    const shown = spacedTicks(props.ticks, domain, scale, inner);
    const labels = new Map(shown.map((tick) => [scaled(tick.value, scale), tick.label]));
    return { places: [...labels.keys()], label: (place: number) => labels.get(place) ?? "" };
  }, [props.ticks, domain, scale, inner]);
  const readable = points
    .filter((point) => point.y !== null)
    .map((point) => ({
      point,
      px: ((scaled(point.x, scale) - domain.min) / (domain.max - domain.min || 1)) * inner,
      py: ((y.domain.max - (point.y ?? 0)) / (y.domain.max - y.domain.min || 1)) * (height - top - bottom),
    }))
    .sort((a, b) => a.px - b.px);
  const at = readable.find(({ point }) => point.id === active);

  const move = (event: PointerEvent<HTMLElement>) => {
    const { left, top: above } = event.currentTarget.getBoundingClientRect();
    onActive(nearestPoint(readable, event.clientX - left, event.clientY - above)?.point.id ?? null);
  };
  const key = (event: KeyboardEvent) => {
    const place = readable.findIndex(({ point }) => point.id === active);
    const next = nextPlace(event.key, place, readable.length);
    const point = next === null ? undefined : readable[next]?.point;
    if (point !== undefined) {
      onActive(point.id);
      say([spoken(point, unit, locale), secondText(second, point.id, locale)].filter(Boolean).join(", "));
    } else if (event.key === "Enter" && active !== null) onPick?.(active);
    else if (event.key === "Escape" && active !== null) onActive(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <figure className="lw-chart" aria-label={messages.points(title, unitLabel(unit, locale), readable.length)}>
      <figcaption className="lw-head">
        {second !== undefined && <TitleMark slot={props.slot ?? 0} />}
        <span className="lw-title" title={props.help}>
          {title}
        </span>
        <span className="lw-unit">{unitLabel(unit, locale)}</span>
        {second !== undefined && <SecondTitle second={second} slot={(props.slot ?? 0) + 1} />}
        <span className="lw-badges">
          {y.domain.min > 0 && <span className="lw-badge lw-badge-stale">{messages.cutAxis}</span>}
        </span>
        {props.actions !== undefined && <span className="lw-actions">{props.actions}</span>}
      </figcaption>
      <div ref={plot} className="lw-plot lw-xy" style={{ height }}>
        {width > 0 && (
          <ComposedChart width={width} height={height} margin={margin} data={NOTHING} accessibilityLayer={false}>
            <CartesianGrid vertical={false} className="lw-grid" zIndex={0} />
            <XAxis
              dataKey="x"
              type="number"
              domain={[domain.min, domain.max]}
              allowDataOverflow
              ticks={x.places}
              tickFormatter={x.label}
              interval={0}
              height={bottom}
              tick={bottomTick}
              tickSize={4}
            />
            <YAxis
              type="number"
              domain={[y.domain.min, y.domain.max]}
              allowDataOverflow
              ticks={[...y.ticks.values]}
              tickFormatter={y.format}
              interval={0}
              width={VALUE_AXIS}
              tick={valueTick}
              tickSize={0}
              tickMargin={6}
              axisLine={false}
            />
            {other !== null && (
              <YAxis
                yAxisId="second"
                orientation="right"
                type="number"
                domain={[other.domain.min, other.domain.max]}
                allowDataOverflow
                ticks={[...other.ticks.values]}
                tickFormatter={other.format}
                interval={0}
                width={VALUE_AXIS}
                tick={rightTick}
                tickSize={0}
                tickMargin={6}
                axisLine={false}
              />
            )}
            {second !== undefined && other !== null && (
              <XyLayer
                {...{ scale, domain, active }}
                points={second.points}
                marks={NOTHING}
                levels={NOTHING}
                range={other.domain}
                joined={props.joined ?? true}
                slot={(props.slot ?? 0) + 1}
              />
            )}
            <XyLayer
              {...{ points, marks, levels, scale, domain, active }}
              range={y.domain}
              joined={props.joined ?? true}
              slot={props.slot ?? 0}
            />
          </ComposedChart>
        )}
        <div
          className="lw-surface"
          role="application"
          tabIndex={readable.length > 0 ? 0 : -1}
          aria-roledescription={messages.chart}
          aria-label={[title, messages.xyKeys].join(". ")}
          style={{ left: VALUE_AXIS, top, width: inner, height: height - top - bottom }}
          data-pick={onPick !== undefined}
          onPointerMove={move}
          onPointerDown={move}
          onPointerLeave={() => onActive(null)}
          onBlur={() => onActive(null)}
          onClick={() => active !== null && onPick?.(active)}
          onKeyDown={key}
        />
        {at && (
          <Tip
            at={at}
            left={VALUE_AXIS}
            right={second === undefined ? right : VALUE_AXIS}
            inner={inner}
            unit={unit}
            further={secondText(second, at.point.id, locale)}
          />
        )}
        <div className="lw-hidden" aria-live="polite">
          {said}
        </div>
      </div>
      {props.axisTitle !== undefined && <p className="lw-axis-title">{props.axisTitle}</p>}
    </figure>
  );
});

function valueAxis(points: readonly XyPoint[], unit: Unit, height: number, tight: boolean, locale: "en" | "ja") {
  const count = valueTickCount(height);
  const domain = xyValueDomain(points, unit, count, tight);
  const ticks = valueTicks(domain, count, unit);
  return {
    domain,
    ticks,
    format: axisFormatter(TICK_UNIT[unit], ticks.step, Math.max(domain.max, -domain.min), locale),
  };
}

function nextPlace(key: string, place: number, count: number): number | null {
  if (count === 0) return null;
  if (key === "ArrowRight") return Math.min(count - 1, place + 1);
  if (key === "ArrowLeft") return place < 0 ? count - 1 : Math.max(0, place - 1);
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  return null;
}

function interval(point: XyPoint, unit: Unit, locale: "en" | "ja"): string {
  const { low, high } = point;
  if (low == null || high == null || low === high) return "";
  return `${formatValue(low, unit, locale)} … ${formatValue(high, unit, locale)}`;
}

function spoken(point: XyPoint, unit: Unit, locale: "en" | "ja"): string {
  const parts = [
    point.label,
    formatValue(point.y, unit, locale),
    interval(point, unit, locale),
    ...(point.lines ?? []),
  ];
  return parts.filter((part) => part !== "").join(", ");
}

/** The second figure at a place, with its title; empty where there is none. */
function secondText(second: XySecond | undefined, id: string, locale: "en" | "ja"): string {
  const point = second?.points.find((one) => one.id === id);
  if (second === undefined || point === undefined || point.y === null) return "";
  const range = interval(point, second.unit, locale);
  return `${second.title} ${formatValue(point.y, second.unit, locale)}${range === "" ? "" : ` (${range})`}`;
}

/** Both figures have their marker before them, since their axes have no name of their own. */
function SecondTitle({ second, slot }: { second: XySecond; slot: number }) {
  const { locale } = useChartSettings();
  return (
    <span className="lw-xy-second">
      <TitleMark slot={slot} />
      <span className="lw-title" title={second.help}>
        {second.title}
      </span>
      <span className="lw-unit">{unitLabel(second.unit, locale)} →</span>
    </span>
  );
}

function TitleMark({ slot }: { slot: number }) {
  const look = seriesLook(slot);
  return (
    <svg
      width={14}
      height={14}
      viewBox="-7 -7 14 14"
      aria-hidden="true"
      style={{ "--lw-color": look.color } as React.CSSProperties}
    >
      <XyShape look="plain" marker={look.marker} />
    </svg>
  );
}

interface TipProps {
  readonly at: { readonly point: XyPoint; readonly px: number };
  readonly left: number;
  readonly right: number;
  readonly inner: number;
  readonly unit: Unit;
  readonly further: string;
}

function Tip(props: TipProps) {
  const { at, left, right, inner, unit, further } = props;
  const { locale } = useChartSettings();
  const toLeft = at.px > inner * 0.6;
  const side = toLeft ? { right: inner - at.px + right + 12 } : { left: left + at.px + 12 };
  const range = interval(at.point, unit, locale);
  return (
    // Keyboard users hear the same by the live text.
    <div className="lw-tooltip lw-xy-tip" data-shown="true" style={side} aria-hidden="true">
      <div className="lw-tooltip-time">{at.point.label}</div>
      <div className="lw-tooltip-value">{formatValue(at.point.y, unit, locale)}</div>
      {range !== "" && <div>{range}</div>}
      {further !== "" && <div>{further}</div>}
      {at.point.lines?.map((line) => (
        <div key={line}>{line}</div>
      ))}
    </div>
  );
}
