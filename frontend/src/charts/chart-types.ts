/** What a caller hands to a chart. */

import type { Values } from "@/lib/series/series";

/**
 * `limit` is drawn dashed in a neutral colour: a bound that moves with time. `period`: a value stands for the whole
 * `periodMs` before its time, and nothing is drawn where there is none. `band`: the room between `floor` and `values`,
 * each for a period too.
 */
export type SeriesKind = "line" | "step" | "area" | "limit" | "period" | "band";

export interface ChartSeries {
  /** Stable and unique within the chart; keeps colour, marker and visibility over updates. */
  readonly id: string;
  readonly name: string;
  /** The same in a word or two, for legends; the name where there is none. */
  readonly brief?: string;
  readonly values: Values;
  readonly kind?: SeriesKind;
  /** Areas, or bands without a floor, with the same stack are put on top of each other, in the order given. */
  readonly stack?: string;
  /** Place in the palette, where it is fixed. */
  readonly slot?: number;
  /** The place that it asks for, as `wishOf` has it: what is one thing has one colour on all charts. */
  readonly wish?: number;
  /** What it belongs to, and which of that thing's series it is, as `Placed` has them. */
  readonly thing?: string;
  readonly variant?: number;
  readonly periodMs?: number;
  /** Points after this time may still grow: they are drawn dotted. */
  readonly finalMs?: number;
  /** Lower edge of a band. */
  readonly floor?: Values;
  /** Drawn thin, without an end, and not listed: one of many behind what is read. */
  readonly faint?: boolean;
}

/** What has not come yet: the time from the newest value to now is hatched, and said in words. */
export interface ChartLateness {
  /** Who delivers, such as `CloudWatch`. */
  readonly source: string;
  /** Values come only when something happened: that there is none is no delay. */
  readonly events: boolean;
  readonly newestMs: number;
  readonly nowMs: number;
}

/** A horizontal line at a fixed value, such as `max_connections`. */
export interface ChartLimit {
  readonly id: string;
  readonly label: string;
  readonly value: number;
}

/** A span behind the lines: a run. An open end reaches to the end of the chart. */
export interface ChartBand {
  readonly id: string;
  readonly label: string;
  readonly startMs: number;
  readonly endMs: number | null;
}

/** An annotation: a line at an instant, or a span when it has an end. */
export interface ChartNote {
  readonly id: string;
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number | null;
  readonly author?: string;
}

/** Where on the screen a time was chosen, for placing a form beside it. */
export interface ScreenPoint {
  readonly x: number;
  readonly y: number;
}
