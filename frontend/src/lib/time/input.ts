/** Times as users type them, in the zone that the page shows. Pure. */
import { parsePoint, type TimePoint } from "./range";
import { type TimeZone, timeParts } from "./time";

const WALL = /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,3}))?)?)?$/;

/** Reads "now-15m", ISO with a zone, ms, or a wall-clock time "2026-11-21 10:30:00" in the given zone. */
export function readTime(text: string, zone: TimeZone): TimePoint | null {
  const trimmed = text.trim();
  const match = WALL.exec(trimmed);
  if (match === null) return parsePoint(trimmed);
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const milli = Number((match[7] ?? "0").padEnd(3, "0"));
  const ms =
    zone === "utc"
      ? Date.UTC(year, month - 1, day, hour, minute, second, milli)
      : new Date(year, month - 1, day, hour, minute, second, milli).getTime();
  const back = timeParts(ms, zone);
  // 31 February and 25 o'clock would roll over silently.
  const same = back.month === month && back.day === day && back.minute === minute && back.second === second;
  return Number.isNaN(ms) || !same ? null : { kind: "at", ms };
}

/** Writes a time as readTime reads it: "2026-11-21 10:30:00", with milliseconds only where there are any. */
export function writeTime(ms: number, zone: TimeZone): string {
  const { year, month, day, hour, minute, second, milli } = timeParts(ms, zone);
  const two = (value: number) => String(value).padStart(2, "0");
  const clock = `${two(hour)}:${two(minute)}:${two(second)}`;
  return `${year}-${two(month)}-${two(day)} ${clock}${milli === 0 ? "" : `.${String(milli).padStart(3, "0")}`}`;
}
