/** Axes of an XY chart. Pure. */

import { type Domain, roundStep, valueDomain } from "@/lib/ticks";
import type { Unit } from "@/lib/units";
import type { XyPoint, XyScale, XyTick } from "./xy-types";

/** Empty room at each side, as a share of the axis, so that no point lies on an edge. */
const AIR = 0.04;

/** Where a value lies on the axis' own straight scale. */
export function scaled(value: number, scale: XyScale): number {
  return scale === "log" ? Math.log10(value) : value;
}

/** A logarithmic axis needs values above zero. */
export function canBeLog(values: readonly number[]): boolean {
  return values.length > 1 && values.every((value) => value > 0);
}

/** Domain of the horizontal axis, in scaled values. */
export function xyDomain(values: readonly number[], scale: XyScale): Domain {
  const places = values.map((value) => scaled(value, scale));
  const min = Math.min(...places);
  const max = Math.max(...places);
  if (!Number.isFinite(min)) return { min: 0, max: 1 };
  const air = max > min ? (max - min) * AIR : 0.5;
  return { min: min - air, max: max + air };
}

/** Pixels of the longer line of a label: about 6.4 a letter, 11 a Japanese one. */
export function labelWidth(label: string): number {
  const widths = label.split("\n").map((line) => [...line].reduce((sum, one) => sum + (one > "\u2e7f" ? 11 : 6.4), 0));
  return Math.max(...widths);
}

/** The ticks whose labels keep apart. The first and the last one are preferred. */
export function spacedTicks(
  ticks: readonly XyTick[],
  domain: Domain,
  scale: XyScale,
  widthPx: number,
): readonly XyTick[] {
  const pxOf = (tick: XyTick) => ((scaled(tick.value, scale) - domain.min) / (domain.max - domain.min || 1)) * widthPx;
  const half = (tick: XyTick) => (labelWidth(tick.label) + 8) / 2;
  const sorted = [...ticks].sort((a, b) => a.value - b.value);
  const last = sorted.at(-1);
  const kept: XyTick[] = [];
  for (const tick of sorted) {
    const before = kept.at(-1);
    const clearBefore = before === undefined || pxOf(tick) - half(tick) >= pxOf(before) + half(before);
    const clearLast = last === undefined || tick === last || pxOf(tick) + half(tick) <= pxOf(last) - half(last);
    if (clearBefore && clearLast) kept.push(tick);
  }
  return kept;
}

/**
 * Domain of the vertical axis with all error bars. It begins at zero unless `tight` and the values differ by less than
 * half of their size: then a change would be lost in an empty plot.
 */
export function xyValueDomain(points: readonly XyPoint[], unit: Unit, ticks: number, tight: boolean): Domain {
  const values = points.flatMap(({ y, low, high }) =>
    [y, low ?? null, high ?? null].filter((value): value is number => value !== null),
  );
  const least = values.length === 0 ? null : Math.min(...values);
  const greatest = values.length === 0 ? null : Math.max(...values);
  if (tight && least !== null && greatest !== null && least > 0 && greatest - least < greatest / 2) {
    const step = roundStep(((greatest - least) * 1.2 || greatest * 0.02) / Math.max(1, ticks), unit);
    const min = Number((Math.floor((least - step / 4) / step) * step).toPrecision(12));
    const max = Number((Math.ceil((greatest + step / 4) / step) * step).toPrecision(12));
    if (min > 0) return { min, max: Math.min(max, unit === "ratio" && greatest <= 1 ? 1 : max) };
  }
  return valueDomain(least, greatest, unit, ticks, null);
}

/** The point nearest to a place in pixels, along the horizontal axis first; the first of equal ones. */
export function nearestPoint<T extends { readonly px: number; readonly py: number }>(
  points: readonly T[],
  px: number,
  py: number,
): T | undefined {
  return [...points].sort(
    (a, b) => Math.abs(a.px - px) - Math.abs(b.px - px) || Math.abs(a.py - py) - Math.abs(b.py - py),
  )[0];
}
