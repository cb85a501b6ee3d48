/** Limits as rows: one for each resource, the worst instance in front, numbered as they were reached. Pure. */
import type { HeadroomEntry } from "@/api/types";
import { placeOfWorst } from "@/panels/findings/worst";

export interface Rank {
  /** 1 was reached first; what cannot be told apart has the same number. */
  readonly place: number;
  readonly atMs: number;
  /** Where the order begins. */
  readonly sinceMs: number;
  /** It was full already when the span began. */
  readonly before: boolean;
}

export interface LimitRow {
  readonly resource: string;
  readonly title: string;
  /** All instances, the worst first. */
  readonly entries: readonly HeadroomEntry[];
  readonly worst: HeadroomEntry;
  /** How many of them are full. */
  readonly full: number;
  readonly rank: Rank | null;
}

/**
 * In the server's order, which puts the nearest limit that somebody waits for first; of instances that are as near, the
 * one that findings call the worst.
 */
export function limitRows(
  entries: readonly HeadroomEntry[],
  sinceMs: number | null,
  worst: readonly string[] = [],
): readonly LimitRow[] {
  const groups = new Map<string, HeadroomEntry[]>();
  for (const entry of entries) {
    const group = groups.get(entry.resource);
    if (group) group.push(entry);
    else groups.set(entry.resource, [entry]);
  }
  const ranks = sinceMs === null ? new Map<string, Rank>() : ranksOf(groups, sinceMs);
  return [...groups].flatMap(([resource, members]) => {
    const [nearest] = members;
    if (nearest === undefined) return [];
    const alike = members.filter(({ state }) => state === nearest.state);
    const first = alike[placeOfWorst(worst, alike)] ?? nearest;
    const full = members.filter(({ state }) => state === "exhausted").length;
    return [{ resource, title: first.title, entries: members, worst: first, full, rank: ranks.get(resource) ?? null }];
  });
}

/**
 * The order in which limits were first reached, each resource by the first of its instances. Two times that are no
 * further apart than either is known, and all that was full before the span, share a place.
 */
function ranksOf(groups: ReadonlyMap<string, readonly HeadroomEntry[]>, sinceMs: number): ReadonlyMap<string, Rank> {
  const reached = [...groups]
    .flatMap(([resource, members]) => {
      const [first] = members.flatMap(({ first_full }) => first_full ?? []).toSorted((a, b) => a.at_ms - b.at_ms);
      return first === undefined ? [] : [{ resource, ...first }];
    })
    .toSorted((a, b) => Number(b.before) - Number(a.before) || a.at_ms - b.at_ms);
  const ranks = new Map<string, Rank>();
  let place = 1;
  let head = reached[0];
  for (const [index, one] of reached.entries()) {
    const tied =
      head !== undefined &&
      (one.before === head.before && one.before
        ? true
        : !head.before && one.at_ms - head.at_ms < Math.max(one.interval_ms, head.interval_ms));
    if (!tied) {
      place = index + 1;
      head = one;
    }
    ranks.set(one.resource, { place, atMs: one.at_ms, sinceMs, before: one.before });
  }
  return ranks;
}
