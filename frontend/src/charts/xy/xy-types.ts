/** What a caller hands to an XY chart: a figure over a parameter, or over runs. */
import type { Unit } from "@/lib/units";

/** `plain` is filled, `bad` a cross, `hollow` an outline outside the line: no state is told by colour alone. */
export type XyLook = "plain" | "bad" | "hollow";

export interface XyPoint {
  /** Stable and unique within the chart; charts that share an axis share ids. */
  readonly id: string;
  readonly x: number;
  readonly y: number | null;
  /** Ends of the error bar. */
  readonly low?: number | null;
  readonly high?: number | null;
  /** Head of the tooltip, and what is read out. */
  readonly label: string;
  /** Further lines of the tooltip. */
  readonly lines?: readonly string[];
  readonly look?: XyLook;
  /** A ring around the point, such as for a baseline. */
  readonly ring?: boolean;
  /** Colour and marker; only points of one slot are joined. The chart's own by default. */
  readonly slot?: number;
}

/** A second figure over the same places, with a value axis of its own at the right. */
export interface XySecond {
  readonly title: string;
  readonly unit: Unit;
  readonly help?: string;
  /** Their ids are those of the first figure's points. */
  readonly points: readonly XyPoint[];
}

/** A vertical line with a text above the plot. */
export interface XyMark {
  readonly id: string;
  readonly x: number;
  readonly label: string;
  readonly tone: "best" | "note" | "better" | "worse" | "neutral";
}

/** A horizontal piece: the level between two changes. */
export interface XyLevel {
  readonly from: number;
  readonly to: number;
  readonly value: number;
}

export type XyScale = "linear" | "log";

export interface XyTick {
  readonly value: number;
  readonly label: string;
}
