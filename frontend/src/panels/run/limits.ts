/** The limits of a run in the order in which they were reached. Pure. */
import type { ResourceReached } from "@/api/runs/types";

export interface OrderedLimit {
  readonly one: ResourceReached;
  /** 1 for the first that was full for long enough to count; null where it never was. */
  readonly place: number | null;
}

/** Times that are closer than samples come have no order. */
const SAMPLE_MS = 1000;

/** Those that were full by when that began, then the others, the fullest first. */
export function limitsInOrder(resources: readonly ResourceReached[]): readonly OrderedLimit[] {
  const full = resources
    .filter(({ first_full_ms }) => first_full_ms !== null)
    .toSorted((a, b) => (a.first_full_ms ?? 0) - (b.first_full_ms ?? 0) || b.ratio_max - a.ratio_max);
  const others = resources
    .filter(({ first_full_ms }) => first_full_ms === null)
    .toSorted((a, b) => b.ratio_max - a.ratio_max);
  const ordered: OrderedLimit[] = [];
  for (const [at, one] of full.entries()) {
    const before = ordered.at(-1);
    const apart = (one.first_full_ms ?? 0) - (before?.one.first_full_ms ?? Number.NEGATIVE_INFINITY);
    const known = Math.max(SAMPLE_MS, one.interval_ms ?? 0, before?.one.interval_ms ?? 0);
    ordered.push({ one, place: apart < known ? (before?.place ?? at + 1) : at + 1 });
  }
  return [...ordered, ...others.map((one) => ({ one, place: null }))];
}
