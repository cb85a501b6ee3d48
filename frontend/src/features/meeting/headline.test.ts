import { expect, it } from "vitest";
import type { Threshold } from "@/api/runs/types";
import { addressOf, placeOf, scenariosOf, sortedThresholds } from "./headline";

const threshold = (expression: string, state: Threshold["state"]): Threshold => ({
  ...{ expression, metric: "p95", operator: "<", limit: 0.3, unit: "seconds", actual: 0.1, window: "steady" },
  ...{ state, detail: "", detail_ja: "" },
});

it("names the scenarios of the meeting with their runs", () => {
  expect(scenariosOf(["b", "a", "", "b"])).toEqual([
    { scenario: "a", count: 1 },
    { scenario: "b", count: 2 },
  ]);
});

it("puts thresholds that failed first", () => {
  const sorted = sortedThresholds([threshold("a", "passed"), threshold("b", "unknown"), threshold("c", "failed")]);
  expect(sorted.map(({ expression }) => expression)).toEqual(["c", "b", "a"]);
});

it("finds its place by the run in the address; one that is gone leads to the first", () => {
  const runs = ["a", "b"];
  expect(placeOf(runs, null)).toEqual({ index: 0, count: 2 });
  expect(placeOf(runs, "b").index).toBe(1);
  expect(placeOf(runs, "gone").index).toBe(0);
  expect(placeOf(runs, "end").index).toBe(2);
  expect([addressOf(runs, 1), addressOf(runs, 2)]).toEqual(["b", "end"]);
});
