/** The two ways a horizontal axis counts time: by the clock, or from the start of a run. Pure. */

import { formatInstant, formatTick, HOUR, type Locale, MINUTE, SECOND, type TimeZone } from "@/lib/time/time";

/** On an `elapsed` axis a "time" is milliseconds since a common zero; what lies before it is negative. */
export type TimeAxis = "time" | "elapsed";

const MINUS = "−";

function two(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}

/** `0:05`, `12:30`, `1:02:30`, `−0:10`; `0:00.250` where seconds are too coarse. */
export function formatElapsed(spanMs: number, precision: "second" | "milli" = "second"): string {
  const rounded = precision === "second" ? Math.round(spanMs / SECOND) * SECOND : Math.round(spanMs);
  const size = Math.abs(rounded);
  const hours = Math.floor(size / HOUR);
  const minutes = Math.floor((size % HOUR) / MINUTE);
  const seconds = Math.floor((size % MINUTE) / SECOND);
  const head = hours > 0 ? `${hours}:${two(minutes)}` : String(minutes);
  const tail = precision === "milli" ? `.${String(size % SECOND).padStart(3, "0")}` : "";
  return `${rounded < 0 ? MINUS : ""}${head}:${two(seconds)}${tail}`;
}

/** Label of an axis tick. */
export function tickText(axis: TimeAxis, timeMs: number, stepMs: number, zone: TimeZone, locale: Locale): string {
  if (axis === "elapsed") return formatElapsed(timeMs, stepMs < SECOND ? "milli" : "second");
  return formatTick(timeMs, stepMs, zone, locale);
}

/** A point in time in full, for tooltip and live text. */
export function instantText(axis: TimeAxis, timeMs: number, zone: TimeZone, locale: Locale): string {
  if (axis === "time") return formatInstant(timeMs, zone, locale);
  const text = formatElapsed(timeMs, timeMs % SECOND === 0 ? "second" : "milli");
  return locale === "ja" ? `経過 ${text}` : `${text} elapsed`;
}
