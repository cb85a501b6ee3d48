/** Where a chart's legend stands, and how high its card is. Pure: the card is as high whatever is in it. */

import { LABEL_PX } from "./end-labels";
import { textWidth } from "./label-places";
import type { LegendKind } from "./legend";

/** In the title line, beside the ends of the lines, in rows below the plot, or as a table below the card's body. */
export type LegendPlace = "title" | "ends" | "below" | "table" | "none";

const USUAL_HEIGHT = 220;
/** Two rows of a legend below the plot; a plot without them has their room. */
const ROWS_PX = 48;
/** More names than this beside their lines would be a list again. */
const MOST_ENDS = 5;
/** A narrower card needs its width for the lines. */
const LEAST_WIDTH = 340;
/** Time axis and room for flags, where no label stands. */
const EDGES_PX = 36;
/** A value such as `12.4 GiB/s`. */
const VALUE_PX = 62;
/** Marker and distances. */
const MARKER_PX = 24;
/** Letters of a title against those of a small text. */
const BOLD = 1.15;
/** Menu of the chart and distances in its title line. */
const BUTTONS_PX = 56;
/** Beyond it names would take more from the plot than rows below it do. */
const MOST_SHARE = 0.36;

/** Height of plot and legend together, in pixels. */
export function bodyHeight(kind: LegendKind | "none", height: number = USUAL_HEIGHT): number {
  return kind === "list" ? height + ROWS_PX : height;
}

/** Width of a column with these names, in pixels. */
export function endsWidth(names: readonly string[]): number {
  return Math.ceil(Math.max(VALUE_PX, ...names.map(textWidth))) + MARKER_PX;
}

/** Of a title line with the only series' marker, name and value, in pixels. */
export function headWidth(texts: readonly string[]): number {
  return Math.ceil(textWidth(texts.join("")) * BOLD + VALUE_PX + MARKER_PX + BUTTONS_PX);
}

/** `head` is the width that the title line needs with a legend in it, `ends` that of names beside their lines. */
export function legendPlace(
  kind: LegendKind | "none",
  count: number,
  body: { readonly width: number; readonly height: number; readonly ends: number; readonly head: number },
): LegendPlace {
  if (kind !== "list") return kind;
  if (count <= 1) return body.head <= body.width ? "title" : "below";
  const fits =
    count <= MOST_ENDS &&
    body.width >= LEAST_WIDTH &&
    body.ends <= MOST_SHARE * body.width &&
    count * LABEL_PX <= body.height - EDGES_PX;
  return fits ? "ends" : "below";
}
