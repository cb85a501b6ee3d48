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

/** So many stand beside the nearest one. */
export const MOST_LINES = 12;

/** A row takes the place of another one only where it is this much nearer to its limit, or their states differ. */
const APART = 0.1;

/**
 * Resources in the order in which their rows stand, the nearest limit first. Rows keep their places: a new nearest limit
 * changes places with the one before it, a hidden one with the least of those that are shown, and the last row takes
 * the place of one that is gone.
 */
export function settledOrder(rows: readonly LimitRow[], before: readonly string[]): readonly string[] {
  const rank = new Map(rows.map(({ resource }, place) => [resource, place]));
  const order = before.filter((resource) => rank.has(resource));
  before.forEach((resource, place) => {
    if (!rank.has(resource) && place < order.length) order.splice(place, 0, ...order.splice(-1));
  });
  order.push(...rows.map(({ resource }) => resource).filter((resource) => !order.includes(resource)));
  const row = (place: number) => rows[rank.get(order[place] ?? "") ?? -1];
  const settle = (place: number, other: number) => {
    const [one, two] = [row(place), row(other)];
    if (one === undefined || two === undefined || !isBefore(two, one, rows)) return;
    [order[place], order[other]] = [two.resource, one.resource];
  };
  const placeOf = (one: LimitRow | undefined) => order.indexOf(one?.resource ?? "");
  for (const hidden of rows.filter((one) => placeOf(one) > MOST_LINES))
    settle(placeOf(rows.findLast((one) => placeOf(one) > 0 && placeOf(one) <= MOST_LINES)), placeOf(hidden));
  settle(0, placeOf(rows[0]));
  return order.length === before.length && order.every((resource, place) => resource === before[place])
    ? before
    : order;
}

/** Of those that are full, and of different states, the server's order counts. */
function isBefore(one: LimitRow, other: LimitRow, rows: readonly LimitRow[]): boolean {
  const ranked = one.worst.state !== other.worst.state || (one.firstMs === null) !== (other.firstMs === null);
  const counts = ranked || one.worst.state === "full" || one.worst.state === "exhausted";
  return (counts && rows.indexOf(one) < rows.indexOf(other)) || one.worst.headroom < other.worst.headroom - APART;
}
