/** Alerts of the past on a time line: a lane for each name, spans side by side in as few rows as they need. Pure. */
import type { Alert } from "@/api/alerts/types";
import type { Range } from "@/lib/time/time";
import { GRAVITIES, type Gravity, gravityOf } from "./text";

export interface LaneSpan {
  readonly alert: Alert;
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
  const names = new Map<string, Alert[]>();
  for (const alert of alerts) {
    const held = names.get(alert.name);
    if (held === undefined) names.set(alert.name, [alert]);
    else held.push(alert);
  }
  const lanes = [...names].map(([name, members]) => {
    const ends: number[] = [];
    let more = 0;
    const spans = members
      .toSorted((a, b) => beginOf(a) - beginOf(b))
      .flatMap((alert): LaneSpan[] => {
        const open = alert.resolved_ms === null || alert.resolved_ms > range.endMs;
        const from = Math.min(100 - LEAST_WIDTH, Math.max(0, place(beginOf(alert))));
        const to = Math.min(100, Math.max(from + LEAST_WIDTH, open ? 100 : place(alert.resolved_ms ?? range.endMs)));
        const free = ends.findIndex((end) => end <= from);
        const row = free >= 0 ? free : ends.length;
        if (row >= MOST_ROWS) {
          more += 1;
          return [];
        }
        ends[row] = to;
        return [{ alert, gravity: gravityOf(alert.severity), left: from, width: to - from, row, open }];
      });
    const gravity = gravest(members);
    return { name, gravity, rows: Math.max(1, ends.length), spans, more, last: Math.max(...members.map(beginOf)) };
  });
  return lanes
    .toSorted((a, b) => GRAVITIES.indexOf(a.gravity) - GRAVITIES.indexOf(b.gravity) || b.last - a.last)
    .map(({ last: _last, ...lane }) => lane);
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
