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

it("shows the alert, and of the time before it as much as it has lasted, in steps", () => {
  const begun = alert("a", { active_ms: 3_600_000 });
  const series = (from: number, to: number) => ({ times_ms: [from, to], values: [1, 2], threshold: null, unit: "" });
  const minute = 60_000;
  expect(chartRange(series(1_800_000, 3_640_000), begun, 0)).toEqual({ startMs: 55 * minute, endMs: 3_640_000 });
  expect(chartRange(series(1_800_000, 75 * minute), begun, 0).startMs).toBe(45 * minute);
  expect(chartRange(series(0, 300 * minute), begun, 0).startMs).toBe(30 * minute);
  expect(chartRange(series(3_590_000, 3_640_000), begun, 0).startMs).toBe(3_590_000);
  expect(chartRange(series(3_610_000, 3_640_000), begun, 0).startMs).toBe(3_600_000);
  expect(chartRange(undefined, begun, 3_700_000)).toEqual({ startMs: 55 * minute, endMs: 3_700_000 });
});

it("knows its own reasons and units, and leaves others as they are", () => {
  expect(knownReason("no-data")).toBe("no-data");
  expect(knownReason("of-another-version")).toBeNull();
  expect(chartUnit("ratio")).toBe("ratio");
  expect(chartUnit("sockets")).toBe("count");
  expect(movesState(transition(1))).toBe(true);
  expect(movesState(transition(2, { from_state: "firing", to_state: "firing" }))).toBe(false);
});
