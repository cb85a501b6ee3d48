/** What the tables of costs show of a document. Pure. */
import type { Cost, CostEstimate, CostRoute, CostShare, CostStatement, CpuRoute } from "@/api/runs/types";
import type { Locale } from "@/lib/time/time";
import { formatValue } from "@/lib/units";

/** Coverage below which figures of statements are too low by as much. */
export const LEAST_COVERAGE = 0.95;
/** A share of database time that is worth a sentence. */
const LEADS = 0.2;
const REMAINS = 0.1;
const MANY_ROWS = 1000;

/** Whether there is anything to show. */
export function hasCosts(cost: Cost): boolean {
  return cost.routes.length > 0 || cost.statements.length > 0 || cost.functions !== null;
}

/** The route that has most of the database's time, where it has enough of it. */
export function leadingRoute(cost: Cost): CostRoute | null {
  const [first] = cost.routes;
  return first !== undefined && first.calls !== null && first.share >= LEADS ? first : null;
}

/** Routes that ask a statement again and again in each request, the dearest first. */
export function repeatedShares(cost: Cost): readonly { readonly route: CostRoute; readonly share: CostShare }[] {
  return cost.routes
    .flatMap((route) => route.statements.filter((share) => share.repeated).map((share) => ({ route, share })))
    .sort((a, b) => b.share.share - a.share.share);
}

/** A number of calls: whole ones without a fraction. */
export function callsText(value: number): string {
  if (value >= 100) return value.toFixed(0);
  const text = value.toFixed(value >= 10 ? 1 : 2);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** The interval of a figure, where it is not the figure itself. */
export function rangeText(estimate: CostEstimate): string | null {
  const [low, high] = [callsText(estimate.low), callsText(estimate.high)];
  return low === high ? null : `${low}–${high}`;
}

/** A route's share of the processor's time, and what it was. */
export function byRouteText(one: CpuRoute, locale: Locale): string {
  const share = formatValue(one.share, "ratio", locale);
  return one.base_share === null
    ? `${one.name} ${share}`
    : `${one.name} ${formatValue(one.base_share, "ratio", locale)} → ${share}`;
}

/** What a statement is marked with. */
export function statementMarks(one: CostStatement): readonly ("rows" | "scan" | "disk" | "lock")[] {
  const marks: ("rows" | "scan" | "disk" | "lock")[] = [];
  if ((one.examined_per_sent ?? 0) >= MANY_ROWS) marks.push("rows");
  if (one.calls > 0 && (one.no_index_used ?? 0) / one.calls >= 0.5) marks.push("scan");
  if ((one.tmp_disk_tables ?? 0) > 0) marks.push("disk");
  if (one.seconds > 0 && (one.lock_seconds ?? 0) / one.seconds >= REMAINS) marks.push("lock");
  return marks;
}

/** The share of database time that no route explains, where it is worth saying. */
export function unexplained(cost: Cost): number | null {
  const rest = 1 - cost.explained_share;
  return cost.reason === null && cost.database_seconds > 0 && rest >= REMAINS ? rest : null;
}
