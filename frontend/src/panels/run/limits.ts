/** The limits of a run in the order in which they were reached. Pure. */
import type { ResourceReached } from "@/api/runs/types";

export interface OrderedLimit {
  readonly one: ResourceReached;
  /** 1 for the first that was full for long enough to count; null where it never was. */
  readonly place: number | null;
}

/** Those that were full by when that began, then the others, the fullest first. */
export function limitsInOrder(resources: readonly ResourceReached[]): readonly OrderedLimit[] {
  const full = resources
    .filter(({ first_full_ms }) => first_full_ms !== null)
    .toSorted((a, b) => (a.first_full_ms ?? 0) - (b.first_full_ms ?? 0) || b.ratio_max - a.ratio_max);
  const others = resources
    .filter(({ first_full_ms }) => first_full_ms === null)
    .toSorted((a, b) => b.ratio_max - a.ratio_max);
  return [...full.map((one, place) => ({ one, place: place + 1 })), ...others.map((one) => ({ one, place: null }))];
}
