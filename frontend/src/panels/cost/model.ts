/** What the tables of costs show of a document. Pure. */
import type {
  Cost,
  CostEstimate,
  CostRoute,
  CpuRoute,
  RouteRank,
  RunRoute,
  RunRoutes,
  RunStatements,
} from "@/api/runs/types";
import type { Locale } from "@/lib/time/time";
import { formatValue } from "@/lib/units";

/** Coverage below which figures of statements are too low by as much. */
export const LEAST_COVERAGE = 0.95;
/** A share of database time that is worth a sentence. */
const LEADS = 0.2;
const REMAINS = 0.1;

/** Whether there is anything to show. */
export function hasCosts(cost: Cost, routes?: RunRoutes, statements?: RunStatements): boolean {
  return (
    (routes?.routes.length ?? 0) > 0 ||
    (statements?.statements.length ?? 0) > 0 ||
    cost.routes.length > 0 ||
    cost.statements.length > 0 ||
    cost.functions !== null
  );
}

/** Whether the server's words of what is missing say why it cannot be told what routes ask, too. */
export function isSaid(
  reason: Cost["reason"] | "imported",
  routes: RunRoutes | undefined,
  statements: RunStatements | undefined,
): boolean {
  if (reason === "no-routes") return routes?.source === "none";
  return reason === "no-statements" && statements?.source === "none";
}

/** What is missing, and which lines of the configuration switch it on: in the server's words. */
export function missing(cost: Cost, routes?: RunRoutes, statements?: RunStatements): readonly string[] {
  return [
    ...(routes?.source === "none" && cost.routes.length === 0 ? routes.remarks : []),
    ...(statements?.source === "none" && cost.statements.length === 0 ? statements.remarks : []),
    ...cost.profile_remarks,
  ];
}

/** The route that has most of the database's time, where it has enough of it. */
export function leadingRoute(cost: Cost): CostRoute | null {
  const [first] = cost.routes;
  return first !== undefined && first.calls !== null && first.share >= LEADS ? first : null;
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

/** The share of database time that no route explains, where it is worth saying. */
export function unexplained(cost: Cost): number | null {
  const rest = 1 - cost.explained_share;
  return cost.reason === null && cost.database_seconds > 0 && rest >= REMAINS ? rest : null;
}

/** A line of the table: what was counted of a route, and what it asked of the database. */
export interface RouteLine {
  readonly name: string;
  readonly figures: RunRoute | null;
  readonly cost: CostRoute | null;
}

/** Whether it could be told what routes ask of the database. */
export function asksDatabase(cost: Cost): boolean {
  return cost.routes.some(({ calls }) => calls !== null);
}

/** Routes by the database's time where that could be told, else by their own; whatever is in either of both. */
export function routeLines(cost: Cost, routes: RunRoutes | undefined): readonly RouteLine[] {
  const figures = new Map(routes?.routes.map((one) => [one.name, one]));
  const costs = new Map(cost.routes.map((one) => [one.name, one]));
  const names = asksDatabase(cost) ? [...costs.keys(), ...figures.keys()] : [...figures.keys(), ...costs.keys()];
  return [...new Set(names)].map((name) => ({
    name,
    figures: figures.get(name) ?? null,
    cost: costs.get(name) ?? null,
  }));
}

/** Classes of answers with their shares, the most frequent first; no number where there is one class only. */
export function answerShares(
  statuses: Readonly<Record<string, number>>,
): readonly (readonly [string, number | null])[] {
  const found = Object.entries(statuses).filter(([, count]) => count > 0);
  const total = found.reduce((sum, [, count]) => sum + count, 0);
  const [first] = found;
  if (found.length === 1 && first !== undefined) return [[first[0], null]];
  return found.toSorted((a, b) => b[1] - a[1]).map(([name, count]) => [name, count / total]);
}

/** A duration by its rank as text, by a writer of seconds; a bound where only that is known. */
export function rankText(rank: RouteRank | undefined, write: (seconds: number) => string): string {
  if (rank === undefined) return "–";
  if (rank.value !== null) return write(rank.value);
  return rank.high === null ? `> ${write(rank.low)}` : `≤ ${write(rank.high)}`;
}

/** The bounds of a duration by its rank, where they are not the same. */
export function rankRange(rank: RouteRank | undefined, write: (seconds: number) => string): string | undefined {
  if (rank === undefined || rank.high === null || rank.low === rank.high) return undefined;
  return `${write(rank.low)}–${write(rank.high)}`;
}

/** The base's duration of the same rank, where the two differ by more than their bounds allow for chance. */
export function rankBase(rank: RouteRank | undefined, base: RouteRank | undefined): number | null {
  if (rank === undefined || base === undefined) return null;
  const apart =
    rank.low > (base.high ?? Number.POSITIVE_INFINITY) || (rank.high ?? Number.POSITIVE_INFINITY) < base.low;
  return apart ? base.value : null;
}

/** Why it cannot be told what routes ask; of a log that was imported nobody counted while the run was under way. */
export function untold(cost: Cost, routes: RunRoutes | undefined): NonNullable<Cost["reason"]> | "imported" | null {
  const counted = (routes?.routes.length ?? 0) > 0;
  if (cost.reason !== "no-routes" || !counted) return cost.reason;
  return cost.statements.length > 0 ? "imported" : "no-statements";
}
