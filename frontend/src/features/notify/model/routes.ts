/** The route tree for drawing: what lights up, and who leads where. Pure. */
import type { components } from "@/api/schema.gen";

type Route = components["schemas"]["RouteOut"];
type RouteAnswer = components["schemas"]["RouteAnswer"];

/** How a route stands to the labels that were asked about. */
export type Lit = "none" | "path" | "match";

/** Routes on the way to those that take the labels, and these themselves. */
export function litRoutes(answer: RouteAnswer | undefined): ReadonlyMap<string, Lit> {
  const lit = new Map<string, Lit>();
  for (const match of answer?.matches ?? []) {
    for (const id of match.path) if (!lit.has(id)) lit.set(id, "path");
    lit.set(match.route_id, "match");
  }
  return lit;
}

/** The conditions from the root to a route, which say in words how an alert gets there. */
export function conditionsTo(root: Route, id: string): readonly string[] {
  const way = (route: Route): readonly string[] | null => {
    if (route.id === id) return route.matchers;
    for (const child of route.routes) {
      const rest = way(child);
      if (rest !== null) return [...route.matchers, ...rest];
    }
    return null;
  };
  return way(root) ?? [];
}
