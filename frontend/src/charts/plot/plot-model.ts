/** One chart's plot outside React: what it shows, where it lies, and how it follows the shared crosshair. */

import type { ChartLateness, ScreenPoint } from "@/charts/chart-types";
import type { CrosshairGroup, CrosshairMember } from "@/charts/crosshair-group";
import { cancelDraw, drawOnce } from "@/charts/draw-queue";
import { placeEndLabels } from "@/charts/legend/end-labels";
import { type Geometry, timeOf, xOf } from "@/charts/lines/geometry";
import {
  judgedSampleMs,
  type Reading,
  type ReadingSource,
  readAt,
  readingStride,
  snapTime,
} from "@/charts/lines/reading";
import type { Layer } from "@/charts/lines/stacking";
import { instantText } from "@/charts/lines/time-axis";
import { endOf, lastSampleMs } from "@/lib/series/series";
import type { Range } from "@/lib/time/time";
import { PlotLines, type PlotParents } from "./plot-lines";
import { hideTooltip, showTooltip, type TooltipText, valueText } from "./tooltip";

export interface PlotView extends ReadingSource {
  readonly layers: readonly Layer[];
  readonly text: TooltipText;
  /** Shade the time after the last sample when it is older than this; null never shades. */
  readonly staleAfterMs: number | null;
  readonly nowMs: number | null;
  readonly late: ChartLateness | null;
}

export interface PlotOverlay {
  /** Covers the plot area, takes pointer and keys; crosshair and selection lie inside it. */
  readonly surface: HTMLElement;
  readonly crosshair: HTMLElement;
  readonly selection: HTMLElement;
  readonly live: HTMLElement;
}

export interface PlotSvg extends PlotParents {
  readonly stale: SVGElement;
  readonly late: SVGElement;
}

export class PlotModel implements CrosshairMember {
  private view: PlotView | null = null;
  private place: Geometry | null = null;
  private overlay: PlotOverlay | null = null;
  private svg: PlotSvg | null = null;
  private lines: PlotLines | null = null;
  private labels: HTMLElement | null = null;
  private dotsShown = false;
  private announce: ReturnType<typeof setTimeout> | undefined;
  private group: CrosshairGroup | null = null;
  /** Called when the flag of an annotation is clicked. */
  onNote: ((id: string) => void) | null = null;

  attachOverlay(overlay: PlotOverlay, group: CrosshairGroup): () => void {
    this.overlay = overlay;
    this.group = group;
    const leave = group.join(this);
    this.placeSurface();
    return () => {
      clearTimeout(this.announce);
      leave();
      this.overlay = null;
      this.group = null;
    };
  }

  attachSvg(svg: PlotSvg): () => void {
    this.svg = svg;
    this.lines = new PlotLines(svg);
    return () => {
      this.lines?.remove();
      this.lines = null;
      this.svg = null;
      cancelDraw(this);
    };
  }

  /** The legend that stands beside the ends of the lines; null where it does not. */
  labelEnds(labels: HTMLElement | null): void {
    if (labels === this.labels) return;
    this.labels = labels;
    this.redraw();
  }

  /** Takes the scale that Recharts laid out; drawn before the next paint, so axes and lines never disagree. */
  setGeometry(geometry: Geometry): void {
    this.place = geometry;
    this.placeSurface();
    this.redraw();
  }

  setView(view: PlotView): void {
    this.view = view;
    this.redraw();
  }

  get geometry(): Geometry | null {
    return this.place;
  }

  get current(): PlotView | null {
    return this.view;
  }

  private redraw(): void {
    drawOnce(this, () => this.draw());
  }

  private draw(): void {
    const { view, place, lines, svg } = this;
    if (view === null || place === null || lines === null || svg === null) return;
    lines.draw(view.layers, view.slots, view.grid, place, view.reduced);
    if (this.labels !== null) placeEndLabels(this.labels, view.layers, view.grid, place);
    this.drawStale(view, place, svg.stale);
    this.drawLate(view, place, svg.late);
    this.group?.refresh(this);
  }

  emphasize(id: string | null): void {
    this.lines?.emphasize(id);
  }

  /** Time under a place in the window, snapped to the data. */
  timeAtClient(clientX: number): number | null {
    const { view, place, overlay } = this;
    if (view === null || place === null || overlay === null) return null;
    const timeMs = timeOf(place, place.x + clientX - overlay.surface.getBoundingClientRect().left);
    const snapped = snapTime(view, timeMs);
    // Beyond the data (the future of a live chart, a range without samples) the pointer's own time is the honest one.
    if (snapped === null || timeMs > endOf(view.grid) || timeMs < view.grid.startMs - view.grid.stepMs) return timeMs;
    return snapped;
  }

  /** Time `steps` readings from `timeMs`, kept within data and range. */
  stepTime(timeMs: number, steps: number): number | null {
    const limits = this.readingLimits();
    const { view } = this;
    if (limits === null || view === null) return null;
    const wanted = timeMs + steps * readingStride(view) * view.grid.stepMs;
    return snapTime(view, Math.min(limits.endMs, Math.max(limits.startMs, wanted)));
  }

  /** First and last time that has a reading inside the range. */
  readingLimits(): Range | null {
    const { view, place } = this;
    if (view === null || place === null || view.grid.count === 0) return null;
    const startMs = Math.max(view.grid.startMs, place.range.startMs);
    const last = lastSampleMs(view.grid, view.series) ?? endOf(view.grid) - view.grid.stepMs;
    return { startMs, endMs: Math.max(startMs, Math.min(last, place.range.endMs)) };
  }

  readAt(timeMs: number): Reading | null {
    const { view, place } = this;
    if (view === null || place === null) return null;
    const reachMs = ((place.range.endMs - place.range.startMs) / Math.max(1, place.width)) * 5;
    return readAt(view, timeMs, reachMs);
  }

  /** Says time and values by the live text, a moment after the last key so that held keys do not flood it. */
  announceAt(timeMs: number): void {
    clearTimeout(this.announce);
    this.announce = setTimeout(() => {
      const reading = this.readAt(timeMs);
      if (reading === null || this.view === null || this.overlay === null) return;
      this.overlay.live.textContent = readingText(reading, this.view.text);
    }, 120);
  }

  showCrosshair(timeMs: number | null, isSource: boolean): void {
    const { overlay, place, view } = this;
    if (overlay === null || place === null) return;
    const inside = timeMs !== null && timeMs >= place.range.startMs && timeMs <= place.range.endMs;
    overlay.crosshair.style.opacity = inside ? "1" : "0";
    if (inside) overlay.crosshair.style.transform = `translateX(${Math.round(xOf(place, timeMs) - place.x)}px)`;
    if (!isSource && !this.dotsShown) return;
    if (view === null) return;
    this.dotsShown = isSource && inside;
    this.lines?.showDots(this.dotsShown ? timeMs : null, view.grid, place);
  }

  showSelection(range: Range | null): void {
    const { overlay, place } = this;
    if (overlay === null || place === null) return;
    overlay.selection.hidden = range === null;
    if (range === null) return;
    const from = Math.max(0, xOf(place, Math.min(range.startMs, range.endMs)) - place.x);
    const to = Math.min(place.width, xOf(place, Math.max(range.startMs, range.endMs)) - place.x);
    overlay.selection.style.transform = `translateX(${from}px)`;
    overlay.selection.style.width = `${Math.max(1, to - from)}px`;
  }

  showTooltip(timeMs: number | null, at: ScreenPoint | null): void {
    const reading = timeMs === null ? null : this.readAt(timeMs);
    if (reading === null || this.view === null || timeMs === null) {
      hideTooltip();
      return;
    }
    showTooltip(reading, this.view.text, at ?? this.screenPoint(timeMs));
  }

  /** Place in the window of a time, at the middle of the plot. */
  screenPoint(timeMs: number): ScreenPoint {
    const box = this.overlay?.surface.getBoundingClientRect();
    if (box === undefined || this.place === null) return { x: 0, y: 0 };
    return { x: box.left + xOf(this.place, timeMs) - this.place.x, y: box.top + box.height / 2 };
  }

  private placeSurface(): void {
    const { overlay, place } = this;
    if (overlay === null || place === null) return;
    const { style } = overlay.surface;
    style.left = `${place.x}px`;
    style.top = `${place.y}px`;
    style.width = `${place.width}px`;
    style.height = `${place.height}px`;
  }

  private drawStale(view: PlotView, place: Geometry, area: SVGElement): void {
    const last = judgedSampleMs(view.grid, view.series);
    const now = Math.min(view.nowMs ?? 0, place.range.endMs);
    const stale = last !== null && view.staleAfterMs !== null && now - last > view.staleAfterMs;
    area.setAttribute("visibility", stale ? "visible" : "hidden");
    if (stale) spanArea(area, place, last, now);
  }

  private drawLate(view: PlotView, place: Geometry, area: SVGElement): void {
    const to = Math.min(view.late?.nowMs ?? 0, place.range.endMs);
    const shown = view.late !== null && to > Math.max(view.late.newestMs, place.range.startMs);
    area.setAttribute("visibility", shown ? "visible" : "hidden");
    if (shown) spanArea(area, place, view.late.newestMs, to);
  }
}

/** Moves a rectangle over a span of the plot's whole height. */
function spanArea(area: SVGElement, place: Geometry, startMs: number, endMs: number): void {
  const from = Math.max(place.x, xOf(place, startMs));
  area.setAttribute("x", from.toFixed(1));
  area.setAttribute("y", String(place.y));
  area.setAttribute("width", Math.max(0, xOf(place, endMs) - from).toFixed(1));
  area.setAttribute("height", String(place.height));
}

/** One sentence with time, values, runs and notes. */
export function readingText(reading: Reading, text: TooltipText): string {
  const values = reading.rows.map((row) => `${row.series.name} ${valueText(row, text)}`);
  const events = [
    ...reading.bands.map((band) => `${text.messages.run} ${band.label}`),
    ...reading.notes.map((note) => `${text.messages.note} ${note.text}`),
  ];
  const time = instantText(text.axis, reading.timeMs, text.timeZone, text.locale);
  return [time, ...values, ...events].join(", ");
}
