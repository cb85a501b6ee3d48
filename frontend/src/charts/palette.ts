/** Looks of series: a colour by CSS variable, a marker shape and a dash, so that no line is told by colour alone. */
import { PALETTE_SIZE } from "@/lib/series/palette-places";

export interface SeriesLook {
  /** CSS value of the colour; see palette.css for both schemes. */
  readonly color: string;
  /** SVG path of the marker around the origin, about 8 px wide. */
  readonly marker: string;
  /** `stroke-dasharray`, or null for a solid line. */
  readonly dash: string | null;
}

const MARKERS = [
  "M-3.5,0a3.5,3.5 0 1,0 7,0a3.5,3.5 0 1,0 -7,0Z",
  "M-3.2,-3.2H3.2V3.2H-3.2Z",
  "M0,-4.2L4,3H-4Z",
  "M0,-4.4L4.4,0L0,4.4L-4.4,0Z",
  "M0,4.2L4,-3H-4Z",
  "M-1.4,-4H1.4V-1.4H4V1.4H1.4V4H-1.4V1.4H-4V-1.4H-1.4Z",
  "M-4.2,-1.8H4.2V1.8H-4.2Z",
  "M-1.8,-4.2H1.8V4.2H-1.8Z",
] as const;
const DASHES = [null, "7 3", "2 3", "9 3 2 3"] as const;

/** Look of the series at a place; the shapes repeat after eight, then the dash differs. */
export function seriesLook(slot: number): SeriesLook {
  const place = Math.max(0, Math.floor(slot));
  return {
    color: `var(--lw-series-${(place % PALETTE_SIZE) + 1})`,
    marker: MARKERS[place % MARKERS.length] ?? MARKERS[0],
    dash: DASHES[Math.floor(place / PALETTE_SIZE) % DASHES.length] ?? null,
  };
}

export const LIMIT_LOOK: SeriesLook = { color: "var(--lw-limit)", marker: "M-4.5,-1H4.5V1H-4.5Z", dash: "6 4" };
