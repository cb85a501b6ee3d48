/** The limits of a run in the order in which they did harm. Pure. */
import type { Finding } from "@/api/findings/types";
import type { ResourceReached } from "@/api/runs/types";

export interface OrderedLimit {
  readonly one: ResourceReached;
  /** 1 for the first that was full and did harm; null of those that hurt nobody. */
  readonly place: number | null;
}

/** Times that are closer than samples come have no order. */
const SAMPLE_MS = 1000;

/**
 * Those that were full and that a finding accuses, by when they were full; then the others that were full, then the
 * rest, the fullest first: a host's CPU that was full while nobody waited is not what ran out first.
 */
export function limitsInOrder(
  resources: readonly ResourceReached[],
  findings: readonly Finding[],
): readonly OrderedLimit[] {
  const accused = findings
    .filter(({ muted, severity }) => !muted && severity !== "info")
    .flatMap(({ labels, instances }): readonly Labels[] =>
      instances.length === 0 ? [labels] : instances.map((instance) => ({ ...labels, instance })),
    );
  const full = resources
    .filter(({ first_full_ms }) => first_full_ms !== null)
    .toSorted((a, b) => (a.first_full_ms ?? 0) - (b.first_full_ms ?? 0) || b.ratio_max - a.ratio_max);
  const isAccused = (one: ResourceReached) => accused.some((labels) => sameThing(one.labels, labels));
  const others = resources
    .filter(({ first_full_ms }) => first_full_ms === null)
    .toSorted((a, b) => b.ratio_max - a.ratio_max);
  const ordered: OrderedLimit[] = [];
  for (const [at, one] of full.filter(isAccused).entries()) {
    const before = ordered.at(-1);
    const apart = (one.first_full_ms ?? 0) - (before?.one.first_full_ms ?? Number.NEGATIVE_INFINITY);
    const known = Math.max(SAMPLE_MS, one.interval_ms ?? 0, before?.one.interval_ms ?? 0);
    ordered.push({ one, place: apart < known ? (before?.place ?? at + 1) : at + 1 });
  }
  const harmless = full.filter((one) => !isAccused(one));
  return [...ordered, ...[...harmless, ...others].map((one) => ({ one, place: null }))];
}

type Labels = Readonly<Record<string, string>>;

/** Whether both speak of one thing; of a host, one of them may not name the job. */
function sameThing(a: Labels, b: Labels): boolean {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => (name === "job" && !(name in a && name in b)) || a[name] === b[name]);
}
