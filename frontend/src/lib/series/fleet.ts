/** Several instances of one thing seen together: their total, their spread, and which of them stands out. Pure. */

import { type Grid, timeAt, type Values } from "./series";

/** What instances are together. */
export type Total = "sum" | "mean" | "highest" | "lowest";
export type FleetMode = "total" | "each" | "spread";
export type Orientation = "more_is_worse" | "more_is_better" | "neutral";

/** One instance: its values, and how long each of them lasts. */
export interface Member {
  readonly values: Values;
  readonly periodMs: number;
}

/** An instance without a value for this long is gone; until then its value is late. */
const GONE_MS = 1_200_000;

/** How long one value lasts: the shortest distance between two of them, and no less than what was declared. */
export function periodOf(values: Values, stepMs: number, declaredMs: number): number {
  let before = -1;
  let shortest = Number.POSITIVE_INFINITY;
  values.forEach((value, index) => {
    if (value === null) return;
    if (before >= 0) shortest = Math.min(shortest, (index - before) * stepMs);
    before = index;
  });
  return Number.isFinite(shortest) ? Math.max(shortest, declaredMs) : declaredMs;
}

interface Span {
  readonly first: number;
  readonly last: number;
}

/** Each value over all the steps of its period. */
function covered(member: Member, grid: Grid): readonly (number | null)[] {
  const steps = Math.max(1, Math.round(member.periodMs / grid.stepMs));
  const out: (number | null)[] = Array.from({ length: grid.count }, () => null);
  let value: number | null = null;
  let left = 0;
  for (let index = grid.count - 1; index >= 0; index -= 1) {
    const own = member.values[index] ?? null;
    if (own !== null) {
      value = own;
      left = steps;
    }
    if (left > 0) out[index] = value;
    left -= 1;
  }
  return out;
}

function spanOf(values: Values): Span | null {
  const first = values.findIndex((value) => value !== null);
  if (first < 0) return null;
  return { first, last: values.findLastIndex((value) => value !== null) };
}

/**
 * Whatever is made of all instances at a time, or null while one of them is missing: one that has a hole there, or
 * whose value has not come yet. A total without it would be a dip that never was. An instance that began later, or
 * is gone since long, is not missed.
 */
export function together(
  members: readonly Member[],
  grid: Grid,
  combine: (values: readonly number[]) => number,
): readonly (number | null)[] {
  const filled = members.map((member) => covered(member, grid));
  const spans = filled.map(spanOf);
  const newest = Math.max(-1, ...spans.map((span) => span?.last ?? -1));
  const missedUntil = spans.map((span) => {
    if (span === null) return -1;
    const gone = timeAt(grid, newest) - timeAt(grid, span.last) > GONE_MS;
    return gone ? span.last : newest;
  });
  return Array.from({ length: grid.count }, (_, index) => {
    const present: number[] = [];
    for (const [place, values] of filled.entries()) {
      const value = values[index] ?? null;
      if (value !== null) present.push(value);
      else if (index >= (spans[place]?.first ?? Number.POSITIVE_INFINITY) && index <= (missedUntil[place] ?? -1))
        return null;
    }
    return present.length === 0 ? null : combine(present);
  });
}

const COMBINE: Readonly<Record<Total, (values: readonly number[]) => number>> = {
  sum: (values) => values.reduce((sum, value) => sum + value, 0),
  mean: (values) => values.reduce((sum, value) => sum + value, 0) / values.length,
  highest: (values) => Math.max(...values),
  lowest: (values) => Math.min(...values),
};

export function totalOf(members: readonly Member[], grid: Grid, total: Total): Values {
  return together(members, grid, COMBINE[total]);
}

export interface Spread {
  readonly low: Values;
  readonly middle: Values;
  readonly high: Values;
}

export function spreadOf(members: readonly Member[], grid: Grid): Spread {
  return {
    low: together(members, grid, COMBINE.lowest),
    middle: together(members, grid, median),
    high: together(members, grid, COMBINE.highest),
  };
}

/**
 * Place of the worst instance over the whole grid, by the mean of its values: not the one that is ahead for a moment.
 * Null where neither more nor less is worse, or where all are alike.
 */
export function worstOf(members: readonly Pick<Member, "values">[], orientation: Orientation): number | null {
  if (orientation === "neutral") return null;
  const sign = orientation === "more_is_worse" ? 1 : -1;
  const means = members.map(({ values }) => {
    const present = values.filter((value) => value !== null);
    return present.length === 0 ? null : (sign * present.reduce((sum, one) => sum + one, 0)) / present.length;
  });
  const known = means.filter((mean) => mean !== null);
  const most = Math.max(...known);
  return known.length < 2 || most === Math.min(...known) ? null : means.indexOf(most);
}

/** With fewer there is no usual one to differ from. */
const LEAST_MEMBERS = 4;
/** Values of each instance that are looked at: the newest. */
const RECENT = 5;
const FARTHEST_SCORE = 3.5;
/** Where many stand out, none does; those farthest away are named. */
const MOST_OUTLIERS = 5;
/** A difference that nobody would act on is none, however alike the others are. */
const LEAST_SHARE = 0.1;

/**
 * Places of the instances that stand out: whose recent median lies more than 3.5 robust deviations from the median of
 * all (modified z-score by the median absolute deviation; Iglewicz and Hoaglin, "How to Detect and Handle Outliers",
 * 1993; by the mean absolute deviation where more than half are the same).
 */
export function outliersOf(members: readonly Member[]): readonly number[] {
  const recent = members.map(({ values }) => {
    const present = values.filter((value) => value !== null).slice(-RECENT);
    return present.length === 0 ? null : median(present);
  });
  const known = recent.filter((value) => value !== null);
  if (known.length < LEAST_MEMBERS) return [];
  const centre = median(known);
  const distances = known.map((value) => Math.abs(value - centre));
  const usual = median(distances) / 0.6745 || (distances.reduce((sum, one) => sum + one, 0) / known.length) * 1.2533;
  if (usual === 0) return [];
  const away = recent.map((value) => (value === null ? 0 : Math.abs(value - centre)));
  return away
    .flatMap((distance, place) =>
      distance / usual > FARTHEST_SCORE && distance >= LEAST_SHARE * Math.abs(centre) ? [place] : [],
    )
    .toSorted((a, b) => (away[b] ?? 0) - (away[a] ?? 0))
    .slice(0, MOST_OUTLIERS)
    .toSorted((a, b) => a - b);
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  const upper = sorted[half] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? 0) + upper) / 2;
}
