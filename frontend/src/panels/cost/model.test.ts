import { expect, it } from "vitest";
import type { Cost, CostRoute, RunRoutes, RunStatements } from "@/api/runs/types";
import {
  answerShares,
  byRouteText,
  callsText,
  hasCosts,
  isSaid,
  leadingRoute,
  missing,
  rangeText,
  rankBase,
  rankText,
  routeLines,
  unexplained,
  untold,
} from "./model";

const share = { statement: "a", share: 0.5, repeated: true };
const route = { name: "GET /a", calls: { value: 101, low: 100, high: 102 }, share: 0.8, statements: [share] };
const cost = { routes: [route], reason: null, database_seconds: 4, explained_share: 0.8 } as unknown as Cost;

it("leads with the route that has most of the database's time", () => {
  expect(leadingRoute(cost)?.name).toBe("GET /a");
  expect(leadingRoute({ ...cost, routes: [{ ...route, share: 0.1 } as unknown as CostRoute] })).toBeNull();
  expect(leadingRoute({ ...cost, routes: [] })).toBeNull();
});

it("writes calls as people say them", () => {
  expect([100.6, 20, 5.04, 1, 0.5, 12.34].map(callsText)).toEqual(["101", "20", "5.04", "1", "0.5", "12.3"]);
  expect(rangeText({ value: 1, low: 0.98, high: 1.02 })).toBe("0.98–1.02");
  expect(rangeText({ value: 101, low: 101.1, high: 101.2 })).toBeNull();
});

it("says what no route explains where it is worth saying", () => {
  expect(unexplained(cost)).toBeCloseTo(0.2);
  expect(unexplained({ ...cost, explained_share: 0.95 })).toBeNull();
  expect(unexplained({ ...cost, reason: "no-routes" })).toBeNull();
});

it("says the processor's time of a route, and what it was", () => {
  expect(byRouteText({ name: "/a", share: 0.8, base_share: null }, "en")).toBe("/a 80%");
  expect(byRouteText({ name: "/a", share: 0.8, base_share: 0.5 }, "en")).toBe("/a 50% → 80%");
});

it("shows functions where nothing else was counted", () => {
  const none = { routes: [], statements: [], functions: null } as unknown as Cost;
  expect(hasCosts(none)).toBe(false);
  expect(hasCosts({ ...none, functions: {} } as unknown as Cost)).toBe(true);
});

it("says what is missing in the words of whoever should have counted it", () => {
  const nothing = { source: "none", remarks: ["add it"], routes: [], statements: [] };
  const none = { routes: [], statements: [], functions: null, profile_remarks: ["no profile"] } as unknown as Cost;
  const [nobody, unasked] = [nothing as unknown as RunRoutes, nothing as unknown as RunStatements];
  expect(missing(none, nobody, unasked)).toEqual(["add it", "add it", "no profile"]);
  expect(missing({ ...none, routes: [route as unknown as CostRoute], profile_remarks: [] }, nobody, unasked)).toEqual([
    "add it",
  ]);
  expect(isSaid("no-routes", nobody, undefined)).toBe(true);
  expect(isSaid("no-statements", nobody, unasked)).toBe(true);
  expect(isSaid("no-statements", nobody, { ...unasked, source: "mysql" } as unknown as RunStatements)).toBe(false);
  expect(isSaid("too-short", nobody, unasked)).toBe(false);
  expect(hasCosts(none, nobody, { ...unasked, statements: [{}] } as unknown as RunStatements)).toBe(true);
});

const routes = { routes: [{ name: "GET /b" }, { name: "GET /a" }] } as unknown as RunRoutes;

it("has one line for each route of either table, by the database's time where that is told", () => {
  expect(routeLines(cost, routes).map(({ name }) => name)).toEqual(["GET /a", "GET /b"]);
  const untold = { ...cost, routes: [{ ...route, name: "GET /c", calls: null }] } as unknown as Cost;
  expect(routeLines(untold, routes).map(({ name, cost: asked }) => [name, asked !== null])).toEqual([
    ["GET /b", false],
    ["GET /a", false],
    ["GET /c", true],
  ]);
  expect(hasCosts({ ...cost, routes: [], statements: [], functions: null }, routes)).toBe(true);
});

it("says the classes of answers with their shares", () => {
  expect(answerShares({ "2xx": 90, "304": 10 })).toEqual([
    ["2xx", 0.9],
    ["304", 0.1],
  ]);
  expect(answerShares({ "2xx": 5 })).toEqual([["2xx", null]]);
  expect(answerShares({})).toEqual([]);
});

it("writes a bound where only a bound is known", () => {
  const write = (seconds: number) => `${seconds} s`;
  expect(rankText({ value: 0.2, low: 0.1, high: 0.4 }, write)).toBe("0.2 s");
  expect(rankText({ value: null, low: 0, high: 0.1 }, write)).toBe("≤ 0.1 s");
  expect(rankText({ value: null, low: 60, high: null }, write)).toBe("> 60 s");
  expect(rankText(undefined, write)).toBe("–");
});

it("says no change of durations that lie in neighbouring buckets", () => {
  const at = (low: number, high: number) => ({ value: (low + high) / 2, low, high });
  expect(rankBase(at(0.1, 0.12), at(0.12, 0.14))).toBeNull();
  expect(rankBase(at(0.1, 0.12), at(0.14, 0.18))).toBeCloseTo(0.16);
  expect(rankBase(at(0.1, 0.12), undefined)).toBeNull();
});

it("does not say that nobody counted where a log was imported", () => {
  const without = { ...cost, reason: "no-routes", statements: [] } as unknown as Cost;
  expect(untold(without, undefined)).toBe("no-routes");
  expect(untold(without, routes)).toBe("no-statements");
  expect(untold({ ...without, statements: [{}] } as unknown as Cost, routes)).toBe("imported");
  expect(untold(cost, routes)).toBeNull();
});
