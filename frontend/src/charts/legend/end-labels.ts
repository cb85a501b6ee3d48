/** Names beside the ends of lines: the chart's legend, moved by hand outside React as the lines are. */

import { type Geometry, yOf } from "@/charts/lines/geometry";
import type { Layer } from "@/charts/lines/stacking";
import type { Grid } from "@/lib/series/series";
import { labelPlaces } from "./label-places";

/** Two small lines: a name and its last value. */
export const LABEL_PX = 30;

/** A label that is off by no more stays where it is: one that moves with each value cannot be read. */
const STILL_PX = 12;

/** Where a layer ends: its last value up to index `last`, for one of a stack the middle of its part; null without any. */
function endOf({ series, tops, bases }: Layer, last: number): number | null {
  for (let index = Math.min(last, tops.length - 1); index >= 0; index -= 1) {
    const top = tops[index];
    if (top === null || top === undefined) continue;
    const base = series.stack === undefined ? null : (bases?.[index] ?? 0);
    return base === null ? top : (top + base) / 2;
  }
  return null;
}

/** Where an entry stands, in pixels below the upper edge of the legend. */
const placed = new WeakMap<HTMLElement, number>();

/**
 * Moves the entries of a legend (`[data-series]`) beside the ends of their lines. What is not drawn stands at the foot.
 * While one is pointed at or has the focus all stay where they are.
 */
export function placeEndLabels(legend: HTMLElement, layers: readonly Layer[], grid: Grid, geometry: Geometry): void {
  const items = [...legend.querySelectorAll<HTMLElement>("[data-series]")];
  const held = legend.matches(":hover") || legend.contains(document.activeElement);
  if (items.length === 0 || (held && items.every((item) => placed.has(item)))) return;
  const last = Math.floor((geometry.range.endMs - grid.startMs) / grid.stepMs);
  const foot = geometry.y + geometry.height;
  const ends = new Map(layers.map((layer) => [layer.series.id, endOf(layer, last)]));
  const wanted = items.map((item) => {
    const value = ends.get(item.dataset.series ?? "") ?? null;
    const middle = value === null ? foot : Math.max(geometry.y, Math.min(foot, yOf(geometry, value)));
    const now = (placed.get(item) ?? Number.NaN) + LABEL_PX / 2;
    return Math.abs(middle - now) <= STILL_PX ? now : middle;
  });
  const tops = labelPlaces(wanted, LABEL_PX, foot + LABEL_PX / 2).map(Math.round);
  items.forEach((item, place) => {
    const top = tops[place] ?? 0;
    const translate = `0 ${top - place * LABEL_PX}px`;
    if (item.style.translate !== translate) item.style.translate = translate;
    placed.set(item, top);
  });
}
