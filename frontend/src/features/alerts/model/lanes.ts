/** Incidents of the past on a time line: a lane for each name of a head, spans side by side in as few rows as they need. Pure. */
import type { Alert } from "@/api/alerts/types";
import { MINUTE, type Range } from "@/lib/time/time";
import { GRAVITIES, type Gravity, gravityOf, type Matter, mattersOf } from "./text";

export interface LaneSpan {
  /** What the incident is named after. */
  readonly alert: Alert;
  /** How many others are part of it. */
  readonly others: number;
  readonly startMs: number;
  /** Null while something of it fires. */
  readonly endMs: number | null;
  readonly gravity: Gravity;
  /** Percent of the line's width. */
  readonly left: number;
  readonly width: number;
  /** From 0; spans of one row do not overlap. */
  readonly row: number;
  /** It was under way at the end of the range, or still is. */
  readonly open: boolean;
}

export interface AlertLane {
  readonly name: string;
  readonly gravity: Gravity;
  readonly rows: number;
  readonly spans: readonly LaneSpan[];
  /** Alerts that found no row. */
  readonly more: number;
}

/** Lanes stay readable, and a page with ten thousand alerts stays one. */
const MOST_ROWS = 6;
/** Percent; a second in a day must still be seen and pressed. */
const LEAST_WIDTH = 0.4;

/** Lanes in the order of gravity, then of the last alert in each. */
export function layOutLanes(alerts: readonly Alert[], range: Range): readonly AlertLane[] {
  const length = Math.max(1, range.endMs - range.startMs);
  const place = (ms: number) => ((ms - range.startMs) / length) * 100;
  const names = new Map<string, Matter[]>();
  for (const matter of mattersOf(alerts)) {
    const held = names.get(matter.head.name);
    if (held === undefined) names.set(matter.head.name, [matter]);
    else held.push(matter);
  }
  const lanes = [...names].map(([name, members]) => {
    const ends: number[] = [];
    let more = 0;
    const spans = members
      .map((matter) => ({ ...matter, ...spanOf(matter) }))
      .toSorted((a, b) => a.startMs - b.startMs)
      .flatMap(({ head, others, startMs, endMs }): LaneSpan[] => {
        const open = endMs === null || endMs > range.endMs;
        const from = Math.min(100 - LEAST_WIDTH, Math.max(0, place(startMs)));
        const to = Math.min(100, Math.max(from + LEAST_WIDTH, open ? 100 : place(endMs)));
        const free = ends.findIndex((end) => end <= from);
        const row = free >= 0 ? free : ends.length;
        if (row >= MOST_ROWS) {
          more += 1;
          return [];
        }
        ends[row] = to;
        const gravity = gravest([head, ...others]);
        const spot = { left: from, width: to - from, row, open };
        return [{ alert: head, others: others.length, startMs, endMs, gravity, ...spot }];
      });
    const gravity = gravest(members.flatMap(({ head, others }) => [head, ...others]));
    const last = Math.max(...members.map((matter) => spanOf(matter).startMs));
    return { name, gravity, rows: Math.max(1, ends.length), spans, more, last };
  });
  return lanes
    .toSorted((a, b) => GRAVITIES.indexOf(a.gravity) - GRAVITIES.indexOf(b.gravity) || b.last - a.last)
    .map(({ last: _last, ...lane }) => lane);
}

/** From the first of an incident's alerts to the end of the last; null while one fires. */
export function spanOf({ head, others }: Matter): { readonly startMs: number; readonly endMs: number | null } {
  const all = [head, ...others];
  const ends = all.map(({ resolved_ms }) => resolved_ms);
  return {
    startMs: Math.min(...all.map(beginOf)),
    endMs: ends.includes(null) ? null : Math.max(...ends.map((end) => end ?? 0)),
  };
}

const LEAST_FIT_MS = 10 * MINUTE;

/** The part of a range in which there is something: what fired in one of seven days would else be a hair. */
export function fitRange(alerts: readonly Alert[], range: Range): Range {
  if (alerts.length === 0) return range;
  const startMs = Math.min(...alerts.map(beginOf));
  const endMs = Math.max(...alerts.map((one) => one.resolved_ms ?? range.endMs));
  const pad = 0.05 * (endMs - startMs);
  const last = Math.min(range.endMs, endMs + pad);
  return { startMs: Math.max(range.startMs, Math.min(startMs - pad, last - LEAST_FIT_MS)), endMs: last };
}

/** An episode shows from the moment it fired. */
export function beginOf(alert: Pick<Alert, "fired_ms" | "active_ms">): number {
  return alert.fired_ms ?? alert.active_ms;
}

function gravest(alerts: readonly Alert[]): Gravity {
  const best = Math.min(...alerts.map((alert) => GRAVITIES.indexOf(gravityOf(alert.severity))));
  return GRAVITIES[best] ?? "none";
}

/** The range between two places of the line (0 to 1, in any order), at least a second long. */
export function rangeBetween(range: Range, a: number, b: number): Range {
  const [first, last] = a <= b ? [a, b] : [b, a];
  const at = (share: number) =>
    Math.round(range.startMs + Math.min(1, Math.max(0, share)) * (range.endMs - range.startMs));
  return { startMs: at(first), endMs: Math.max(at(first) + 1000, at(last)) };
}
