/** Limits as rows: one for each resource, the worst instance in front; what the findings accuse comes first. Pure. */
import type { Diagnosis, Finding } from "@/api/findings/types";
import type { HeadroomEntry } from "@/api/types";
import { accuses } from "@/panels/findings/model";
import { placeOfWorst, worstInstances } from "@/panels/findings/worst";

/** One that is exhausted did harm, as a finding says; one that is full without any is only that. */
export type Limit = Omit<HeadroomEntry, "state"> & { readonly state: HeadroomEntry["state"] | "full" };

export interface LimitRow {
  readonly resource: string;
  readonly title: string;
  /** All instances, the worst first. */
  readonly entries: readonly Limit[];
  readonly worst: Limit;
  /** How many of them are full. */
  readonly full: number;
  /** Since when it did harm, as the headline says; null of the others. */
  readonly firstMs: number | null;
  /** It is full, and the server says that nothing suffered. */
  readonly calm: boolean;
}

export interface Said extends Pick<Diagnosis, "headline"> {
  readonly findings: readonly Finding[];
}

/**
 * In the server's order, what the headline names first; of instances that are as near, the one that findings call the
 * worst.
 */
export function limitRows(entries: readonly HeadroomEntry[], said: Said | undefined): readonly LimitRow[] {
  const groups = new Map<string, HeadroomEntry[]>();
  for (const entry of entries) groups.set(entry.resource, [...(groups.get(entry.resource) ?? []), entry]);
  const headline = said?.headline;
  const findings = said?.findings ?? [];
  const rows = [...groups].flatMap(([resource, members]): LimitRow[] => {
    const harmed = findings.some((one) => one.resource === resource && accuses(one));
    const limits = members.map(
      (one): Limit => (one.state === "exhausted" && !harmed ? { ...one, state: "full" } : one),
    );
    const alike = limits.filter(({ state }) => state === limits[0]?.state);
    const worst = alike[Math.max(0, placeOfWorst(worstInstances(findings), alike))];
    if (worst === undefined) return [];
    const full = members.filter(({ state }) => state === "exhausted").length;
    const calm = worst.state === "full" && (headline?.kind === "none" || headline?.kind === "full");
    const firstMs = headline?.resource === resource ? (headline.from_ms ?? null) : null;
    return [{ resource, title: worst.title, entries: limits, worst, full, firstMs, calm }];
  });
  return rows.toSorted((a, b) => Number(b.firstMs !== null) - Number(a.firstMs !== null));
}

/** A row moves past another one only where it is this much nearer to its limit, or either changes its state. */
const APART = 0.1;

/** The order that rows keep: as it was, for as long as no state changes and none is nearer by far than one before it. */
export function settledOrder(rows: readonly LimitRow[], before: Settled): Settled {
  const states = rows.map(({ resource, worst, firstMs }) => `${resource} ${worst.state} ${firstMs !== null}`);
  const state = states.toSorted().join();
  const place = ({ resource }: LimitRow) => before.order.indexOf(resource);
  const overtaken = rows.some((one, at) =>
    rows.slice(at + 1).some((other) => place(other) < place(one) && isNearer(one.worst, other.worst)),
  );
  if (state === before.state && !overtaken) return before;
  return { state, order: rows.map(({ resource }) => resource) };
}

const isNearer = (one: Limit, other: Limit) => one.headroom < other.headroom - APART;

export interface Settled {
  readonly state: string;
  readonly order: readonly string[];
}
