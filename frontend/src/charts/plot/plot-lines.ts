/** The drawn series of one chart: SVG paths made and moved by hand, outside React. */

import { type Geometry, xOf, yOf } from "@/charts/lines/geometry";
import { areaPath, LinePath } from "@/charts/lines/line-path";
import { bandPath, coveringIndex, periodPath } from "@/charts/lines/period-path";
import type { Layer } from "@/charts/lines/stacking";
import { LIMIT_LOOK, seriesLook } from "@/charts/palette";
import { type Grid, nearestIndex, timeAt, type Values } from "@/lib/series/series";

const SVG = "http://www.w3.org/2000/svg";

function shape(className: string, parent: SVGElement): SVGPathElement {
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("class", className);
  parent.append(path);
  return path;
}

function setPath(path: SVGPathElement, text: string): void {
  if (path.getAttribute("d") !== text) path.setAttribute("d", text);
}

class SeriesLine {
  private readonly path: SVGPathElement;
  private readonly dotted: SVGPathElement;
  private readonly area: SVGPathElement | null;
  private readonly end: SVGPathElement;
  private readonly dot: SVGPathElement;
  private readonly line: LinePath;
  private readonly rest: LinePath;
  private layer: Layer;

  constructor(layer: Layer, slot: number, parents: PlotParents) {
    const kind = layer.series.kind ?? "line";
    const look = kind === "limit" ? LIMIT_LOOK : seriesLook(slot);
    this.layer = layer;
    this.line = new LinePath(kind === "step" || kind === "limit");
    const stacked = layer.series.stack === undefined ? "lw-area" : "lw-area lw-area-stacked";
    this.rest = new LinePath(kind === "step" || kind === "limit");
    this.area = kind === "area" || kind === "band" ? shape(stacked, parents.areas) : null;
    this.path = shape(lineClass(layer.series), parents.lines);
    this.dotted = shape("lw-awaited", parents.lines);
    this.end = shape("lw-end", parents.lines);
    this.dot = shape("lw-dot", parents.dots);
    for (const marker of [this.end, this.dot]) {
      marker.setAttribute("d", look.marker);
      marker.setAttribute("visibility", "hidden");
    }
    for (const part of [this.path, this.dotted, this.area, this.end, this.dot]) {
      part?.style.setProperty("--lw-color", look.color);
      part?.setAttribute("data-series", layer.series.id);
    }
    if (look.dash !== null) this.path.setAttribute("stroke-dasharray", look.dash);
  }

  draw(layer: Layer, grid: Grid, geometry: Geometry, reduced: boolean): void {
    this.layer = layer;
    const { kind, periodMs = grid.stepMs, floor, faint } = layer.series;
    if (kind === "band") {
      const low = floor ?? layer.bases ?? [];
      const each = layer.series.periodMs === undefined;
      const path = each
        ? areaPath(grid, layer.tops, low, geometry)
        : bandPath(grid, layer.tops, low, periodMs, reduced, geometry);
      if (this.area !== null) setPath(this.area, path);
      return;
    }
    if (kind === "period") setPath(this.path, periodPath(grid, layer.tops, periodMs, reduced, geometry));
    else {
      const [final, awaited] = splitAt(layer.tops, grid, layer.series.finalMs);
      setPath(this.path, this.line.update(grid, final, geometry));
      setPath(this.dotted, awaited === null ? "" : this.rest.update(grid, awaited, geometry));
    }
    if (faint === true) return;
    if (this.area !== null) setPath(this.area, areaPath(grid, layer.tops, layer.bases, geometry));
    let last = Math.min(grid.count, layer.tops.length) - 1;
    while (last >= 0 && layer.tops[last] === null) last -= 1;
    place(this.end, last < 0 ? null : timeAt(grid, last), layer.tops[last] ?? null, geometry);
  }

  showDot(timeMs: number | null, grid: Grid, geometry: Geometry): void {
    const { series, tops } = this.layer;
    if (timeMs === null || series.kind === "band" || series.faint === true) {
      place(this.dot, null, null, geometry);
      return;
    }
    const index =
      series.kind === "period"
        ? coveringIndex(grid, tops, series.periodMs ?? grid.stepMs, timeMs)
        : nearestIndex(grid, timeMs);
    place(this.dot, timeMs, index === null ? null : (tops[index] ?? null), geometry);
  }

  emphasize(id: string | null): void {
    const faded = id !== null && id !== this.layer.series.id;
    for (const part of [this.path, this.dotted, this.area, this.end]) part?.classList.toggle("lw-faded", faded);
  }

  remove(): void {
    for (const part of [this.path, this.dotted, this.area, this.end, this.dot]) part?.remove();
  }
}

/** What is final, and the rest from the last final point on; null where all is. */
export function splitAt(values: Values, grid: Grid, finalMs: number | undefined): readonly [Values, Values | null] {
  if (finalMs === undefined || finalMs >= timeAt(grid, grid.count - 1)) return [values, null];
  const last = Math.floor((finalMs - grid.startMs) / grid.stepMs);
  return [
    values.map((value, index) => (index <= last ? value : null)),
    values.map((value, index) => (index >= last ? value : null)),
  ];
}

function lineClass({ kind, faint }: Layer["series"]): string {
  if (kind === "limit") return "lw-line lw-line-limit";
  if (kind === "period") return faint === true ? "lw-line lw-line-period lw-line-faint" : "lw-line lw-line-period";
  return faint === true ? "lw-line lw-line-faint" : "lw-line";
}

function place(marker: SVGPathElement, timeMs: number | null, value: number | null, geometry: Geometry): void {
  const inside = timeMs !== null && timeMs >= geometry.range.startMs && timeMs <= geometry.range.endMs;
  if (!inside || value === null) {
    marker.setAttribute("visibility", "hidden");
    return;
  }
  marker.removeAttribute("visibility");
  marker.setAttribute("transform", `translate(${xOf(geometry, timeMs).toFixed(1)},${yOf(geometry, value).toFixed(1)})`);
}

export interface PlotParents {
  readonly areas: SVGElement;
  readonly lines: SVGElement;
  readonly dots: SVGElement;
}

export class PlotLines {
  private readonly lines = new Map<string, SeriesLine>();
  private readonly parents: PlotParents;
  private looks = "";
  private emphasized: string | null = null;

  constructor(parents: PlotParents) {
    this.parents = parents;
  }

  draw(
    layers: readonly Layer[],
    slots: ReadonlyMap<string, number>,
    grid: Grid,
    geometry: Geometry,
    reduced: boolean,
  ): void {
    const looks = JSON.stringify(
      layers.map(({ series }) => [series.id, series.kind, series.faint, slots.get(series.id)]),
    );
    if (looks !== this.looks) this.rebuild(layers, slots);
    this.looks = looks;
    for (const layer of layers) this.lines.get(layer.series.id)?.draw(layer, grid, geometry, reduced);
  }

  showDots(timeMs: number | null, grid: Grid, geometry: Geometry): void {
    for (const line of this.lines.values()) line.showDot(timeMs, grid, geometry);
  }

  emphasize(id: string | null): void {
    this.emphasized = id;
    for (const line of this.lines.values()) line.emphasize(id);
  }

  remove(): void {
    for (const line of this.lines.values()) line.remove();
    this.lines.clear();
    this.looks = "";
  }

  /** Order in the document is order of painting, so a change of the set makes all of them again. */
  private rebuild(layers: readonly Layer[], slots: ReadonlyMap<string, number>): void {
    this.remove();
    layers.forEach((layer, position) => {
      const slot = slots.get(layer.series.id) ?? position;
      this.lines.set(layer.series.id, new SeriesLine(layer, slot, this.parents));
    });
    this.emphasize(this.emphasized);
  }
}
