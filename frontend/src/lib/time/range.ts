/**
 * Time ranges as users write them: relative ("now-15m" to "now"), absolute, or half of each.
 * Pure: the present is always an argument.
 */

/** A point on the time line: relative to now (offset at most 0, in ms), or a fixed instant (ms since the epoch). */
export type TimePoint =
  | { readonly kind: "now"; readonly offsetMs: number }
  | { readonly kind: "at"; readonly ms: number };

export interface TimeRange {
  readonly from: TimePoint;
  readonly to: TimePoint;
}

/** A resolved range in ms since the epoch; start is before end. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const UNITS = { w: 7 * DAY, d: DAY, h: HOUR, m: MINUTE, s: SECOND } as const;

/** Nothing on a chart is finer than this; a drag shorter than it is widened. */
export const SHORTEST_SPAN_MS = SECOND;
export const LONGEST_SPAN_MS = 366 * DAY;

export const RELATIVE_SPANS = ["1m", "5m", "15m", "1h", "6h", "24h", "7d"] as const;
export type RelativeSpan = (typeof RELATIVE_SPANS)[number];

/** Load tests of the first users last five minutes. */
export const DEFAULT_RANGE: TimeRange = lastRange("5m");

/** Reads "1h30m" as milliseconds; null when the text is no duration. */
export function parseDuration(text: string): number | null {
  if (!/^(\d+[wdhms])+$/.test(text)) return null;
  let total = 0;
  for (const [, count, unit] of text.matchAll(/(\d+)([wdhms])/g)) {
    total += Number(count) * UNITS[unit as keyof typeof UNITS];
  }
  return total;
}

/** Writes whole seconds as "1h30m"; the inverse of parseDuration. */
export function formatDuration(ms: number): string {
  let rest = Math.round(ms / SECOND) * SECOND;
  if (rest <= 0) return "0s";
  let text = "";
  for (const [unit, size] of Object.entries(UNITS)) {
    const count = Math.floor(rest / size);
    if (count > 0 && !(unit === "w" && rest % size !== 0)) {
      text += `${count}${unit}`;
      rest -= count * size;
    }
  }
  return text;
}

export function lastRange(span: string): TimeRange {
  const offsetMs = parseDuration(span);
  if (offsetMs === null) throw new RangeError(`"${span}" is no duration such as 15m or 1h30m`);
  return { from: { kind: "now", offsetMs: -offsetMs }, to: { kind: "now", offsetMs: 0 } };
}

export function absoluteRange(start: number, end: number): TimeRange {
  const [first, last] = start <= end ? [start, end] : [end, start];
  const wide = Math.max(last, first + SHORTEST_SPAN_MS);
  return { from: { kind: "at", ms: Math.round(first) }, to: { kind: "at", ms: Math.round(wide) } };
}

/** Reads "now", "now-15m", ms since the epoch or ISO 8601 (with a zone); null when it is none of them. */
export function parsePoint(text: string): TimePoint | null {
  const trimmed = text.trim();
  if (trimmed === "now") return { kind: "now", offsetMs: 0 };
  if (trimmed.startsWith("now-")) {
    const offset = parseDuration(trimmed.slice(4));
    return offset === null ? null : { kind: "now", offsetMs: -offset };
  }
  if (/^\d{10,14}$/.test(trimmed))
    return { kind: "at", ms: trimmed.length === 10 ? Number(trimmed) * SECOND : Number(trimmed) };
  if (!/^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/.test(trimmed)) return null;
  const ms = Date.parse(trimmed.replace(" ", "T"));
  return Number.isNaN(ms) ? null : { kind: "at", ms };
}

export function formatPoint(point: TimePoint): string {
  if (point.kind === "at") return new Date(point.ms).toISOString().replace(".000Z", "Z");
  return point.offsetMs === 0 ? "now" : `now-${formatDuration(-point.offsetMs)}`;
}

export function resolvePoint(point: TimePoint, now: number): number {
  return point.kind === "at" ? point.ms : now + point.offsetMs;
}

/** The range in ms. A range whose start has caught up with its end is widened to the shortest span. */
export function resolveRange(range: TimeRange, now: number): Span {
  const end = resolvePoint(range.to, now);
  const start = Math.min(resolvePoint(range.from, now), end - SHORTEST_SPAN_MS);
  return { start, end };
}

/** True when the right edge moves with the clock. */
export function followsNow(range: TimeRange): boolean {
  return range.to.kind === "now";
}

export function rangesEqual(a: TimeRange, b: TimeRange): boolean {
  return formatPoint(a.from) === formatPoint(b.from) && formatPoint(a.to) === formatPoint(b.to);
}

/** The relative span of a plain "last 15m" range, or null for every other range. */
export function relativeSpanOf(range: TimeRange): string | null {
  if (range.from.kind !== "now" || range.to.kind !== "now" || range.to.offsetMs !== 0) return null;
  // "24h" and "1d" are one span; the picker shows the form that it offers.
  const offset = -range.from.offsetMs;
  return RELATIVE_SPANS.find((span) => parseDuration(span) === offset) ?? formatDuration(offset);
}

/** Checks a range given by a user. */
export type RangeProblem = "order" | "too_long";
export function checkRange(range: TimeRange, now: number): RangeProblem | null {
  const start = resolvePoint(range.from, now);
  const end = resolvePoint(range.to, now);
  if (start >= end) return "order";
  if (end - start > LONGEST_SPAN_MS) return "too_long";
  return null;
}

/** Moves the window by a share of its length (negative: earlier). The end never passes now. */
export function panRange(range: TimeRange, share: number, now: number): TimeRange {
  const { start, end } = resolveRange(range, now);
  const shift = Math.min((end - start) * share, now - end);
  return absoluteRange(start + shift, end + shift);
}

/** Widens the window about its middle by a factor; the end never passes now, the length never the longest span. */
export function widenRange(range: TimeRange, factor: number, now: number): TimeRange {
  const { start, end } = resolveRange(range, now);
  const length = Math.min((end - start) * factor, LONGEST_SPAN_MS);
  if (followsNow(range))
    return { from: { kind: "now", offsetMs: -Math.round(length / SECOND) * SECOND }, to: range.to };
  const right = Math.min((start + end + length) / 2, Math.max(now, end));
  return absoluteRange(right - length, right);
}

/** The text form for the clipboard; Grafana reads and writes the same. */
export function rangeToText(range: TimeRange): string {
  return JSON.stringify({ from: formatPoint(range.from), to: formatPoint(range.to) });
}

/** Reads a copied range: Grafana's JSON, an address with from and to, "start/end" or "start to end". */
export function rangeFromText(text: string): TimeRange | null {
  const trimmed = text.trim();
  const pair = jsonPair(trimmed) ?? addressPair(trimmed) ?? splitPair(trimmed);
  if (pair === null) return null;
  const from = parsePoint(pair[0]);
  const to = parsePoint(pair[1]);
  return from && to ? { from, to } : null;
}

function jsonPair(text: string): [string, string] | null {
  if (!text.startsWith("{")) return null;
  try {
    const { from, to } = JSON.parse(text) as { from?: unknown; to?: unknown };
    return from === undefined || to === undefined ? null : [String(from), String(to)];
  } catch {
    return null;
  }
}

function addressPair(text: string): [string, string] | null {
  if (!URL.canParse(text)) return null;
  const params = new URL(text).searchParams;
  const from = params.get("from");
  const to = params.get("to");
  return from !== null && to !== null ? [from, to] : null;
}

function splitPair(text: string): [string, string] | null {
  const [from, to, ...more] = text.split(/\s+to\s+|\s*\/\s*/);
  return from !== undefined && to !== undefined && more.length === 0 ? [from, to] : null;
}
