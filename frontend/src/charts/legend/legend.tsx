import { type CSSProperties, type MouseEvent, useLayoutEffect, useRef, useState } from "react";
import type { ChartSeries } from "@/charts/chart-types";
import type { ChartMessages } from "@/charts/messages";
import { LIMIT_LOOK, seriesLook } from "@/charts/palette";
import type { Summary } from "@/lib/series/series";
import type { Locale } from "@/lib/time/time";
import { formatValue, type Unit } from "@/lib/units";
import type { LegendPlace } from "./legend-place";

export interface LegendEntry {
  readonly series: ChartSeries;
  /** What tells it from the others of the chart. */
  readonly brief: string;
  readonly slot: number;
  readonly summary: Summary;
}

export type LegendKind = "list" | "table";

interface LegendProps {
  readonly place: Exclude<LegendPlace, "none">;
  /** Of a column beside the lines, or of the rows below them, in pixels. */
  readonly width: number;
  readonly title: string;
  readonly entries: readonly LegendEntry[];
  readonly hidden: ReadonlySet<string>;
  readonly unit: Unit;
  readonly locale: Locale;
  readonly messages: ChartMessages;
  readonly onPick: (id: string, toggle: boolean) => void;
  readonly onEmphasize: (id: string | null) => void;
}

/** Marker and line of a series as the plot draws them; `small` is the marker on a piece of its line. */
export function SeriesMarker({ series, slot, small = false }: { series: ChartSeries; slot: number; small?: boolean }) {
  const look = series.kind === "limit" ? LIMIT_LOOK : seriesLook(slot);
  return (
    <svg
      className={small ? "lw-marker" : "lw-marker lw-marker-wide"}
      viewBox={small ? "-6 -6 12 12" : "-10 -6 20 12"}
      aria-hidden="true"
    >
      {series.kind === "band" ? (
        <path d="M-9,-4.5H9V4.5H-9Z" fill={look.color} fillOpacity={series.stack === undefined ? 0.3 : 0.65} />
      ) : (
        <>
          <path d="M-9,0H9" stroke={look.color} strokeWidth={1.6} strokeDasharray={look.dash ?? undefined} />
          <path d={look.marker} fill={look.color} />
        </>
      )}
    </svg>
  );
}

function SeriesButton(props: LegendProps & { entry: LegendEntry }) {
  const { place, entry, hidden, messages, onPick, onEmphasize } = props;
  const { series, slot, brief } = entry;
  const pick = (event: MouseEvent) => onPick(series.id, event.shiftKey || event.ctrlKey || event.metaKey);
  return (
    <button
      type="button"
      className="lw-legend-item"
      aria-pressed={!hidden.has(series.id)}
      aria-label={series.name.includes(brief) ? series.name : `${brief}: ${series.name}`}
      title={brief === series.name ? messages.legendHint : `${series.name}\n${messages.legendHint}`}
      onClick={pick}
      onPointerEnter={() => onEmphasize(series.id)}
      onPointerLeave={() => onEmphasize(null)}
      onFocus={() => onEmphasize(series.id)}
      onBlur={() => onEmphasize(null)}
    >
      <SeriesMarker series={series} slot={slot} small={place === "ends"} />
      <span className="lw-legend-name">{place === "table" ? series.name : brief}</span>
    </button>
  );
}

export function Legend(props: LegendProps) {
  const { place, width, title, entries, unit, locale, messages } = props;
  const list = useRef<HTMLUListElement>(null);
  const [beyond, setBeyond] = useState(0);
  // Read when names or room change, and not with each value: it makes the browser compute the layout.
  const names = entries.map(({ brief }) => brief).join("\n");
  // biome-ignore lint/correctness/useExhaustiveDependencies: what the list shows depends on them
  useLayoutEffect(() => {
    const rows = place === "below" ? list.current : null;
    const foot = rows === null ? 0 : rows.offsetTop + rows.clientHeight;
    const items = [...(rows?.querySelectorAll("li") ?? [])];
    setBeyond(foot === 0 ? 0 : items.filter(({ offsetTop }) => offsetTop >= foot).length);
  }, [place, width, names]);
  if (place !== "table") {
    return (
      <ul
        ref={list}
        className="lw-legend"
        data-place={place}
        style={{ "--lw-ends": `${width}px` } as CSSProperties}
        aria-label={messages.legend(title)}
      >
        {entries.map((entry) => (
          <li key={entry.series.id} data-series={entry.series.id}>
            <SeriesButton {...props} entry={entry} />
            <span className="lw-legend-value">
              {entry.series.floor !== undefined && entry.summary.last !== null && "≤ "}
              {formatValue(entry.summary.last, unit, locale)}
            </span>
          </li>
        ))}
        {beyond > 0 && <li className="lw-legend-more">{messages.moreSeries(beyond)}</li>}
      </ul>
    );
  }
  return (
    <table className="lw-legend-table" aria-label={messages.legend(title)}>
      <thead>
        <tr>
          <th scope="col">{messages.series}</th>
          <th scope="col">{messages.last}</th>
          <th scope="col">{messages.min}</th>
          <th scope="col">{messages.max}</th>
          <th scope="col">{messages.mean}</th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <tr key={entry.series.id}>
            <th scope="row">
              <SeriesButton {...props} entry={entry} />
            </th>
            {(["last", "min", "max", "mean"] as const).map((column) => (
              <td key={column}>{formatValue(entry.summary[column], unit, locale)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
