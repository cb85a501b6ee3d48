/** The one tooltip of a page, kept out of React: rows are made once and filled again on each move. */

import "./tooltip.css";
import type { ScreenPoint } from "@/charts/chart-types";
import type { Reading, ReadingRow } from "@/charts/lines/reading";
import { instantText, type TimeAxis } from "@/charts/lines/time-axis";
import type { ChartMessages } from "@/charts/messages";
import { LIMIT_LOOK, seriesLook } from "@/charts/palette";
import type { Locale, TimeZone } from "@/lib/time/time";
import { formatValue, type Unit } from "@/lib/units";

const SVG = "http://www.w3.org/2000/svg";
const MAX_ROWS = 14;

export interface TooltipText {
  readonly title: string;
  readonly unit: Unit;
  readonly locale: Locale;
  readonly timeZone: TimeZone;
  readonly axis: TimeAxis;
  readonly messages: ChartMessages;
}

interface Row {
  readonly root: HTMLElement;
  readonly marker: SVGPathElement;
  readonly name: HTMLElement;
  readonly value: HTMLElement;
}

function element(tag: "div" | "span", className: string, parent: HTMLElement): HTMLElement {
  const made = document.createElement(tag);
  made.className = className;
  parent.append(made);
  return made;
}

class Tooltip {
  private readonly root: HTMLElement;
  private readonly time: HTMLElement;
  private readonly rows: Row[] = [];
  private readonly body: HTMLElement;
  private readonly more: HTMLElement;
  private readonly events: HTMLElement;

  constructor() {
    this.root = element("div", "lw-tooltip", document.body);
    // Keyboard users hear the same by the chart's live text.
    this.root.setAttribute("aria-hidden", "true");
    this.time = element("div", "lw-tooltip-time", this.root);
    this.body = element("div", "lw-tooltip-rows", this.root);
    this.more = element("div", "lw-tooltip-more", this.root);
    this.events = element("div", "lw-tooltip-events", this.root);
  }

  show(reading: Reading, text: TooltipText, at: ScreenPoint): void {
    setText(this.time, instantText(text.axis, reading.timeMs, text.timeZone, text.locale));
    const shown = reading.rows.slice(0, MAX_ROWS);
    shown.forEach((row, place) => {
      this.fill(this.row(place), row, text);
    });
    this.rows.forEach((row, place) => {
      row.root.hidden = place >= shown.length;
    });
    const rest = reading.rows.length - shown.length;
    this.more.hidden = rest <= 0;
    setText(this.more, rest > 0 ? text.messages.moreSeries(rest) : "");
    const events = [
      ...reading.bands.map((band) => `${text.messages.run}: ${band.label}`),
      ...reading.notes.map((note) => `${text.messages.note}: ${note.text}${note.author ? ` (${note.author})` : ""}`),
    ];
    this.events.hidden = events.length === 0;
    setText(this.events, events.join("\n"));
    this.place(at);
    this.root.dataset.shown = "true";
  }

  hide(): void {
    delete this.root.dataset.shown;
  }

  /** Beside the pointer, on the side with more room; by percentages, so that no layout must be read. */
  private place(at: ScreenPoint): void {
    const left =
      at.x > window.innerWidth * 0.55 ? `calc(${Math.round(at.x - 14)}px - 100%)` : `${Math.round(at.x + 14)}px`;
    const top =
      at.y > window.innerHeight * 0.6 ? `calc(${Math.round(at.y - 10)}px - 100%)` : `${Math.round(at.y + 14)}px`;
    this.root.style.transform = `translate(${left}, ${top})`;
  }

  private row(place: number): Row {
    const held = this.rows[place];
    if (held !== undefined) return held;
    const root = element("div", "lw-tooltip-row", this.body);
    const icon = document.createElementNS(SVG, "svg");
    icon.setAttribute("viewBox", "-6 -6 12 12");
    icon.setAttribute("class", "lw-marker");
    const marker = document.createElementNS(SVG, "path");
    icon.append(marker);
    root.append(icon);
    const made = {
      root,
      marker,
      name: element("span", "lw-tooltip-name", root),
      value: element("span", "lw-tooltip-value", root),
    };
    this.rows.push(made);
    return made;
  }

  private fill(row: Row, reading: ReadingRow, text: TooltipText): void {
    const look = reading.series.kind === "limit" ? LIMIT_LOOK : seriesLook(reading.slot);
    if (row.marker.getAttribute("d") !== look.marker) row.marker.setAttribute("d", look.marker);
    row.marker.style.fill = look.color;
    setText(row.name, reading.series.name);
    setText(row.value, valueText(reading, text));
  }
}

/** `12.4 ms`, or `8.1 ms … 12.4 ms` where a point stands for a bucket. */
export function valueText(row: ReadingRow, text: Pick<TooltipText, "unit" | "locale" | "messages">): string {
  if (row.value === null) return text.messages.noValue;
  const high = formatValue(row.high, text.unit, text.locale);
  const low = formatValue(row.low, text.unit, text.locale);
  return low === high ? high : `${low} … ${high}`;
}

function setText(node: HTMLElement, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

let tooltip: Tooltip | null = null;

export function showTooltip(reading: Reading, text: TooltipText, at: ScreenPoint): void {
  tooltip ??= new Tooltip();
  tooltip.show(reading, text, at);
}

export function hideTooltip(): void {
  tooltip?.hide();
}
