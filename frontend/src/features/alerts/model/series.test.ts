import { expect, it } from "vitest";
import { alert, transition } from "@/testing/alert-fixtures";
import { chartRange, chartUnit, gridOf, knownReason, movesState } from "./series";

it("puts points on the grid of their shortest distance and leaves the rest as gaps", () => {
  const { grid, values } = gridOf({ times_ms: [1000, 2000, 4000], values: [1, 2, 4] });
  expect(grid).toEqual({ startMs: 1000, stepMs: 1000, count: 4 });
  expect(values).toEqual([1, 2, null, 4]);
});

it("stands no points, one point, and two that lie a year from a third", () => {
  expect(gridOf({ times_ms: [], values: [] }).grid.count).toBe(0);
  expect(gridOf({ times_ms: [5], values: [1] })).toEqual({ grid: { startMs: 5, stepMs: 1000, count: 1 }, values: [1] });
  const far = gridOf({ times_ms: [0, 1, 31_536_000_000], values: [1, 2, 3] });
  expect(far.grid.count).toBeLessThanOrEqual(2002);
  expect(far.values.at(-1)).toBe(3);
});

it("shows the series and the moment at which the alert began", () => {
  const begun = alert("a", { active_ms: 500_000 });
  const series = { times_ms: [600_000, 900_000], values: [1, 2], threshold: null, unit: "" };
  expect(chartRange(series, begun, 0)).toEqual({ startMs: 500_000, endMs: 900_000 });
  expect(chartRange(undefined, begun, 1_000_000).endMs).toBe(1_000_000);
});

it("knows its own reasons and units, and leaves others as they are", () => {
  expect(knownReason("no-data")).toBe("no-data");
  expect(knownReason("of-another-version")).toBeNull();
  expect(chartUnit("ratio")).toBe("ratio");
  expect(chartUnit("sockets")).toBe("count");
  expect(movesState(transition(1))).toBe(true);
  expect(movesState(transition(2, { from_state: "firing", to_state: "firing" }))).toBe(false);
});
