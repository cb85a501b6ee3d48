/** Ticks at round values and round times, and value domains that rarely move. */

import { DAY, HOUR, MINUTE, SECOND, type TimeZone } from "@/lib/time/time";
import type { Unit } from "@/lib/units";

export interface Domain {
  readonly min: number;
  readonly max: number;
}

export interface Ticks {
  readonly step: number;
  readonly values: readonly number[];
}

const TIME_STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((s) => s * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((m) => m * MINUTE),
  ...[1, 2, 3, 6, 12].map((h) => h * HOUR),
  ...[1, 2, 7, 14, 30, 90, 365].map((d) => d * DAY),
];

/** Round times within a range, at most `maxCount`; whole hours and days are those of the zone. */
export function timeTicks(startMs: number, endMs: number, maxCount: number, zone: TimeZone): Ticks {
  const span = Math.max(1, endMs - startMs);
  const wanted = span / Math.max(1, maxCount);
  const step = TIME_STEPS.find((candidate) => candidate >= wanted) ?? Math.ceil(wanted / (365 * DAY)) * 365 * DAY;
  const values: number[] = [];
  if (step < HOUR) {
    for (let time = Math.ceil(startMs / step) * step; time <= endMs; time += step) values.push(time);
    return { step, values };
  }
  // Steps of hours and days follow the wall clock, also over a change of summer time: each tick is placed anew.
  const local = (time: number) => time - offsetMs(time, zone);
  for (let wall = Math.floor(local(startMs) / step) * step; ; wall += step) {
    const time = fromWall(wall, zone);
    if (time > endMs) break;
    if (time >= startMs && time !== values.at(-1)) values.push(time);
  }
  return { step, values };
}

function offsetMs(timeMs: number, zone: TimeZone): number {
  return zone === "utc" ? 0 : new Date(timeMs).getTimezoneOffset() * MINUTE;
}

function fromWall(wallMs: number, zone: TimeZone): number {
  const guess = wallMs + offsetMs(wallMs, zone);
  return wallMs + offsetMs(guess, zone);
}

/** Least round step that is at least `wanted`: 1, 2, 5 by tens; by powers of two for bytes; by 60 for long times. */
export function roundStep(wanted: number, unit: Unit): number {
  if (!(wanted > 0)) return 1;
  if (unit === "bytes" || unit === "bytes_per_second") {
    return wanted <= 1 ? 1 : 2 ** Math.ceil(Math.log2(wanted));
  }
  if (unit === "seconds" && wanted > 10) {
    const steps = [15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400];
    const found = steps.find((step) => step >= wanted);
    if (found !== undefined) return found;
  }
  const power = 10 ** Math.floor(Math.log10(wanted));
  const lead = wanted / power;
  const round = lead <= 1.000001 ? 1 : lead <= 2.000001 ? 2 : lead <= 5.000001 ? 5 : 10;
  const step = round * power;
  // Small counts are no counts of things, but such as cores in use.
  return unit === "count" && wanted >= 0.1 ? Math.max(1, step) : step;
}

/** Round values over a domain, at most about `maxCount` of them. */
export function valueTicks(domain: Domain, maxCount: number, unit: Unit): Ticks {
  const span = domain.max - domain.min;
  const step = roundStep(span / Math.max(1, maxCount), unit);
  const values: number[] = [];
  const first = Math.ceil(domain.min / step - 1e-9);
  const last = Math.floor(domain.max / step + 1e-9);
  // toPrecision takes away the noise of 3 * 0.1, so that labels and React keys stay round.
  for (let index = first; index <= last; index += 1) values.push(Number((index * step).toPrecision(12)));
  return { step, values };
}

/**
 * The domain for values between `least` and `greatest` (null when there are none): starts at zero unless values are
 * negative, ends at a round value with a little air. `former` is kept as long as the values fit and use at least
 * half of it, so that axes stay still while data moves.
 */
export function valueDomain(
  least: number | null,
  greatest: number | null,
  unit: Unit,
  maxTicks: number,
  former: Domain | null,
): Domain {
  const low = Math.min(0, least ?? 0);
  const high = Math.max(0, greatest ?? 0);
  if (low === 0 && high === 0) return former ?? { min: 0, max: 1 };
  if (former !== null && fits(former, low, high)) return former;
  const step = roundStep(((high - low) * 1.05) / Math.max(1, maxTicks), unit);
  const max = high === 0 ? 0 : Number((Math.ceil((high * 1.02) / step) * step).toPrecision(12));
  const min = low === 0 ? 0 : Number((Math.floor((low * 1.02) / step) * step).toPrecision(12));
  return { min, max: unit === "ratio" && high <= 1 && max > 1 ? 1 : max };
}

function fits(former: Domain, low: number, high: number): boolean {
  const inside = low >= former.min && high <= former.max;
  return inside && high - low >= (former.max - former.min) / 2;
}
