import { expect, it } from "vitest";
import type { Review, Threshold } from "@/api/runs/types";
import { addressOf, impacts, placeOf, type Run, scenariosOf, sortedThresholds } from "./headline";

/** As much of a run as a screen of the meeting reads. */
function run(part: Partial<Run> = {}): Run {
  return { id: "a", thresholds: [], expectations: [], resources: [], ...part } as unknown as Run;
}

const threshold = (expression: string, state: Threshold["state"]): Threshold => ({
  ...{ expression, metric: "p95", operator: "<", limit: 0.3, unit: "seconds", actual: 0.1, window: "steady" },
  ...{ state, detail: "", detail_ja: "" },
});

it("shows what the review expects, else what the run was started with", () => {
  const started = run({ expectations: [threshold("p95<300ms", "passed")] });
  expect(impacts(started, null)[0]).toMatchObject({ expression: "p95<300ms", expected: 0.3, state: "passed" });
  const measured = { expression: "rate>9", expected: 9, actual: 8, unit: "per_second", baseline: 7 };
  const review = {
    measured: [{ ...measured, state: "failed", detail: "", detail_ja: "" }],
    monitored: [],
  } as unknown as Review;
  expect(impacts(started, review).map(({ expression }) => expression)).toEqual(["rate>9"]);
});

it("shows what the team watches behind what it expects, without a judgement", () => {
  const watched = { expression: "pool_waits", expected: null, actual: 8, unit: "per_second", baseline: 7 };
  const unread = { ...watched, expression: "p95<", actual: null };
  const review = { measured: [unread, watched], monitored: ["pool_waits"] } as unknown as Review;
  const rows = impacts(run({ expectations: [threshold("p95<300ms", "passed")] }), review);
  expect(rows.map(({ expression, state }) => [expression, state])).toEqual([
    ["p95<300ms", "passed"],
    ["pool_waits", null],
  ]);
});

it("names the scenarios of the meeting with their runs", () => {
  const runs = ["b", "a", "", "b"].map((scenario) => ({ scenario }));
  expect(scenariosOf(runs)).toEqual([
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
