import { expect, it } from "vitest";
import type { ResourceReached, Review, Threshold } from "@/api/runs/types";
import { addressOf, headline, impacts, placeOf, type Run, reachedLimits, sortedThresholds } from "./headline";

const latency = { min: 0.01, mean: 0.05, p50: 0.05, p90: 0.09, p95: 0.1, p99: 0.2, max: 1 };

/** As much of a run as a screen of the meeting reads. */
function run(part: Partial<Run> = {}): Run {
  const figures = { rate: 100, success_ratio: 0.9, latency_seconds: latency, steady: null };
  return { id: "a", ...figures, thresholds: [], expectations: [], resources: [], ...part } as unknown as Run;
}

const threshold = (expression: string, state: Threshold["state"]): Threshold => ({
  ...{ expression, metric: "p95", operator: "<", limit: 0.3, unit: "seconds", actual: 0.1, window: "steady" },
  ...{ state, detail: "" },
});

it("sets figures beside the baseline's, and does not compare a run with itself", () => {
  const before = run({ id: "b", rate: 50, success_ratio: 1 });
  const [ok, p95, , failed] = headline(run(), before);
  expect(ok).toEqual({ id: "ok_rate", unit: "per_second", value: 90, baseline: 50, change: 0.8 });
  expect(p95?.change).toBe(0);
  expect(failed?.value).toBeCloseTo(0.1);
  expect(failed?.change).toBeNull();
  expect(headline(run(), run()).every(({ baseline }) => baseline === null)).toBe(true);
});

it("reads the steady window where there is one", () => {
  const steady = { rate: 200, success_ratio: 1, latency_seconds: { ...latency, p95: 0.3 } } as unknown as Run["steady"];
  expect(
    headline(run({ steady }), null)
      .slice(0, 2)
      .map(({ value }) => value),
  ).toEqual([200, 0.3]);
});

it("shows the fullest limits, whenever they were full", () => {
  const reached = (resource: string, ratio_max: number, first_full_ms: number | null) =>
    ({ resource, ratio_max, first_full_ms }) as unknown as ResourceReached;
  const sorted = reachedLimits([
    reached("fds", 0.3, null),
    reached("db", 0.9, null),
    reached("late", 1, 900),
    reached("pool", 1, 100),
    reached("disk", 0.1, null),
  ]);
  expect(sorted.map(({ resource }) => resource)).toEqual(["late", "pool", "db", "fds"]);
});

it("shows what the review expects, else what the run was started with", () => {
  const started = run({ expectations: [threshold("p95<300ms", "passed")] });
  expect(impacts(started, null)[0]).toMatchObject({ expression: "p95<300ms", expected: 0.3, state: "passed" });
  const measured = { expression: "rate>9", expected: 9, actual: 8, unit: "per_second", baseline: 7 };
  const review = { measured: [{ ...measured, state: "failed", detail: "" }] } as unknown as Review;
  expect(impacts(started, review).map(({ expression }) => expression)).toEqual(["rate>9"]);
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
