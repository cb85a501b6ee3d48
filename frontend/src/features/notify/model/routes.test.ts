import { expect, it } from "vitest";
import type { Route, RouteAnswer } from "@/api/notify/types";
import { conditionsTo, litRoutes } from "./routes";

function route(id: string, matchers: string[], routes: Route[] = []): Route {
  return {
    ...{ id, receiver: `to-${id}`, matchers, routes, continues: false, group_by: [], muted_now: false, groups: 0 },
    ...{ group_wait_seconds: 30, group_interval_seconds: 300, repeat_interval_seconds: 14_400 },
    ...{ mute_time_intervals: [], active_time_intervals: [] },
  };
}
const ROOT = route(
  "0",
  [],
  [route("0.0", ['team="db"'], [route("0.0.0", ['severity="page"'])]), route("0.1", ['run=~".+"'])],
);
const answer = (...ways: string[][]): RouteAnswer => ({
  matches: ways.map((path) => ({
    ...{ route_id: path.at(-1) ?? "", path, receiver: "r", integrations: 1, group_labels: {} },
    ...{ muted: false, muted_by: [] },
  })),
  silenced_by: [],
  inhibited_by: [],
});

it("lights the way to every route that takes the labels", () => {
  const lit = litRoutes(answer(["0", "0.0", "0.0.0"], ["0", "0.1"]));
  expect(Object.fromEntries(lit)).toEqual({ "0": "path", "0.0": "path", "0.0.0": "match", "0.1": "match" });
  expect(litRoutes(undefined).size).toBe(0);
});

it("a route that takes the labels is no mere way, whichever match comes first", () => {
  expect(litRoutes(answer(["0", "0.0", "0.0.0"], ["0", "0.0"])).get("0.0")).toBe("match");
  expect(litRoutes(answer(["0", "0.0"], ["0", "0.0", "0.0.0"])).get("0.0")).toBe("match");
});

it("names the conditions on the way to a route", () => {
  expect(conditionsTo(ROOT, "0.0.0")).toEqual(['team="db"', 'severity="page"']);
  expect(conditionsTo(ROOT, "0")).toEqual([]);
  expect(conditionsTo(ROOT, "9")).toEqual([]);
});
