/** Time ranges and how times are written. Milliseconds since the epoch everywhere; a zone only when text is made. */

export type TimeZone = "local" | "utc";
export type Locale = "en" | "ja";

export interface Range {
  readonly startMs: number;
  readonly endMs: number;
}

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

const SNAPS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600, 43_200, 86_400].map((s) => s * SECOND);

/** Grain to which a live range of this length is snapped: about a twentieth of it, 30 s for ten minutes. */
export function snapGrain(spanMs: number): number {
  const wanted = spanMs / 20;
  return SNAPS.findLast((grain) => grain <= wanted) ?? SECOND;
}

/**
 * The range a live page shows at `nowMs` for a window of `spanMs`. Both ends are multiples of the grain, so the axes
 * stay still until the newest sample would leave them; the end lies after `nowMs`, so that sample is drawn at once,
 * and the whole window is always inside.
 */
export function liveRange(nowMs: number, spanMs: number): Range {
  const grain = snapGrain(spanMs);
  const endMs = (Math.floor(nowMs / grain) + 1) * grain;
  return { startMs: endMs - Math.ceil(spanMs / grain) * grain - grain, endMs };
}

export interface TimeParts {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly milli: number;
}

/** Calendar parts of a time; `month` is 1 to 12. */
export function timeParts(timeMs: number, zone: TimeZone): TimeParts {
  const date = new Date(timeMs);
  if (zone === "utc") {
    return {
      year: date.getUTCFullYear(),
      month: date.getUTCMonth() + 1,
      day: date.getUTCDate(),
      hour: date.getUTCHours(),
      minute: date.getUTCMinutes(),
      second: date.getUTCSeconds(),
      milli: date.getUTCMilliseconds(),
    };
  }
  return {
    year: date.getFullYear(),
    month: date.getMonth() + 1,
    day: date.getDate(),
    hour: date.getHours(),
    minute: date.getMinutes(),
    second: date.getSeconds(),
    milli: date.getMilliseconds(),
  };
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

function two(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}

/** `14:03`, `14:03:05` or `14:03:05.250`, on a 24-hour clock. */
export function formatClock(timeMs: number, zone: TimeZone, precision: "minute" | "second" | "milli"): string {
  const parts = timeParts(timeMs, zone);
  const minutes = `${two(parts.hour)}:${two(parts.minute)}`;
  if (precision === "minute") return minutes;
  const seconds = `${minutes}:${two(parts.second)}`;
  return precision === "second" ? seconds : `${seconds}.${String(parts.milli).padStart(3, "0")}`;
}

/** `21 Nov` or `11月21日`. */
export function formatDay(timeMs: number, zone: TimeZone, locale: Locale): string {
  const { month, day } = timeParts(timeMs, zone);
  return locale === "ja" ? `${month}月${day}日` : `${day} ${MONTHS[month - 1]}`;
}

/** `21 Nov 2026, 14:03:05` or `2026年11月21日 14:03:05`, with ` UTC` when that is the zone. */
export function formatInstant(timeMs: number, zone: TimeZone, locale: Locale): string {
  const { year } = timeParts(timeMs, zone);
  const day = formatDay(timeMs, zone, locale);
  const clock = formatClock(timeMs, zone, timeMs % SECOND === 0 ? "second" : "milli");
  const text = locale === "ja" ? `${year}年${day} ${clock}` : `${day} ${year}, ${clock}`;
  return zone === "utc" ? `${text} UTC` : text;
}

/** A text of the server with its clock times ("10:42:43 UTC") in the page's zone; they lie within a day of `nearMs`. */
export function inZone(text: string, zone: TimeZone, nearMs = Date.now()): string {
  if (zone === "utc") return text;
  return text.replace(/\b(\d\d):(\d\d):(\d\d) UTC/g, (_, hour, minute, second) => {
    const moment = new Date(nearMs).setUTCHours(Number(hour), Number(minute), Number(second), 0);
    return formatClock(moment > nearMs + HOUR ? moment - DAY : moment, zone, "second");
  });
}

/** Label of an axis tick: as precise as the distance between ticks asks, the day in place of midnight. */
export function formatTick(timeMs: number, stepMs: number, zone: TimeZone, locale: Locale): string {
  if (stepMs < SECOND) return formatClock(timeMs, zone, "milli");
  if (stepMs < MINUTE) return formatClock(timeMs, zone, "second");
  const { hour, minute } = timeParts(timeMs, zone);
  if (stepMs >= DAY || (hour === 0 && minute === 0)) return formatDay(timeMs, zone, locale);
  return formatClock(timeMs, zone, "minute");
}

/** A length of time in words as short as they go: `850 ms`, `12 s`, `3 min 20 s`, `2 h 5 min`, `4 d 3 h`. */
export function formatDuration(spanMs: number, locale: Locale): string {
  const unit =
    locale === "ja"
      ? { ms: "ミリ秒", s: "秒", min: "分", h: "時間", d: "日" }
      : { ms: " ms", s: " s", min: " min", h: " h", d: " d" };
  const glue = locale === "ja" ? "" : " ";
  const pair = (big: number, bigUnit: string, small: number, smallUnit: string) =>
    small === 0 ? `${big}${bigUnit}` : `${big}${bigUnit}${glue}${small}${smallUnit}`;
  const span = Math.max(0, spanMs);
  if (span < SECOND) return `${Math.round(span)}${unit.ms}`;
  const seconds = Math.round(span / SECOND);
  if (seconds < 60) return `${seconds}${unit.s}`;
  if (seconds < 3600) return pair(Math.floor(seconds / 60), unit.min, seconds % 60, unit.s);
  const minutes = Math.round(span / MINUTE);
  if (minutes < 24 * 60) return pair(Math.floor(minutes / 60), unit.h, minutes % 60, unit.min);
  const hours = Math.round(span / HOUR);
  return pair(Math.floor(hours / 24), unit.d, hours % 24, unit.h);
}

/** Of a delay of minutes: seconds of it say nothing, and would tick. */
export function wholeMinutes(spanMs: number): number {
  return Math.max(1, Math.round(spanMs / MINUTE)) * MINUTE;
}
