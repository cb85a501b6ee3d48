/**
 * Where things stand in the charts' palette. A colour belongs to a thing: the same kind of failure, the same percentile
 * and the same instance have it on every chart and page, whatever is drawn beside them. Pure.
 */

/** Colours of the palette; places beyond repeat them with another dash. */
export const PALETTE_SIZE = 8;

/** In the order in which the server counts them. */
export const OUTCOMES = [
  "ok",
  "timeout",
  "reset",
  "refused",
  "dns",
  "http_4xx",
  "http_5xx",
  "assertion",
  "other",
] as const;
export type Outcome = (typeof OUTCOMES)[number];

export const OUTCOME_PLACES: Readonly<Record<Outcome, number>> = {
  ok: 2,
  timeout: 1,
  reset: 6,
  refused: 5,
  dns: 7,
  http_4xx: 4,
  http_5xx: 3,
  assertion: 0,
  other: 8,
};

export const QUANTILE_PLACES: Readonly<Record<string, number>> = {
  p50: 0,
  p90: 1,
  p95: 2,
  p99: 3,
  max: 4,
  p75: 5,
  "p99.9": 6,
  min: 7,
};

export const DIRECTION_PLACES: Readonly<Record<string, number>> = { in: 0, out: 1 };

/** The place that a series has by what its labels say, or null. */
export function placeByLabels(labels: Readonly<Record<string, string>>): number | null {
  const { outcome, quantile, direction } = labels;
  if (outcome !== undefined && Object.hasOwn(OUTCOME_PLACES, outcome)) return OUTCOME_PLACES[outcome as Outcome];
  if (direction !== undefined && Object.hasOwn(DIRECTION_PLACES, direction)) return DIRECTION_PLACES[direction] ?? null;
  return quantile === undefined ? null : (QUANTILE_PLACES[percentile(quantile)] ?? null);
}

/** `0.95` as `p95`, 0 as `min` and 1 as `max`. */
function percentile(quantile: string): string {
  const share = Number(quantile);
  if (share === 0) return "min";
  return share === 1 ? "max" : `p${Number((100 * share).toFixed(3))}`;
}

export interface Placed {
  readonly id: string;
  /** A place that is fixed. */
  readonly slot?: number;
  /** The place that it asks for, and gets where nothing beside it has that colour. */
  readonly wish?: number;
  /** What has one colour in the chart however many series it has; without a name each series is a thing. */
  readonly thing?: string;
  /** Which of its thing's series it is: the same colour with another dash. */
  readonly variant?: number;
}

/** The place that a thing asks for wherever it is drawn, by its name. */
export function wishOf(thing: string): number {
  // FNV-1a: the same for everyone who looks, without a table that somebody has to keep.
  let hash = 0x811c9dc5;
  for (const unit of new TextEncoder().encode(thing)) hash = Math.imul(hash ^ unit, 0x01000193) >>> 0;
  return ((hash >>> 16) ^ (hash & 0xffff)) % PALETTE_SIZE;
}

/**
 * A place for each. What is `held` stays, but gives way to what is fixed; where something else has the colour that is
 * asked for it is the next free one, and what asks for none gets the first.
 */
export function assignPlaces(items: readonly Placed[], held: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const next = new Map<string, number>();
  const things = new Map<string, number>();
  const fixed = new Set(items.flatMap(({ slot }) => (slot === undefined ? [] : [slot])));
  for (const { id, slot, thing, variant = 0 } of items) {
    const former = held.get(id);
    const place = slot ?? (former !== undefined && fixed.has(former) ? undefined : former);
    if (place === undefined) continue;
    next.set(id, place);
    if (thing !== undefined) things.set(thing, place - variant * PALETTE_SIZE);
  }
  const taken = new Set(next.values());
  const rest = items.filter(({ id }) => !next.has(id));
  const asking = rest.filter(({ wish }) => wish !== undefined).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  for (const { id, wish = 0, thing = id, variant = 0 } of [
    ...asking,
    ...rest.filter(({ wish }) => wish === undefined),
  ]) {
    const first = things.get(thing) ?? freePlace(taken, wish % PALETTE_SIZE);
    things.set(thing, first);
    const place = first + variant * PALETTE_SIZE;
    taken.add(place);
    next.set(id, place);
  }
  return next;
}

function freePlace(taken: ReadonlySet<number>, first: number): number {
  const colours = new Set([...taken].map((place) => place % PALETTE_SIZE));
  const ring = Array.from({ length: PALETTE_SIZE }, (_, step) => (first + step) % PALETTE_SIZE);
  const free = ring.find((place) => !colours.has(place));
  if (free !== undefined) return free;
  for (let place = PALETTE_SIZE; ; place += 1) if (!taken.has(place)) return place;
}
