import { expect, it } from "vitest";
import { bandPath, coveringIndex, periodPath } from "./period-path";

const STEP = 60_000;
const grid = { startMs: 0, stepMs: STEP, count: 6 };
/** A minute is 10 px, a unit 1 px. */
const place = {
  ...{ x: 0, y: 0, width: 60, height: 100 },
  range: { startMs: 0, endMs: 6 * STEP },
  domain: { min: 0, max: 100 },
};

it("a value is a level over the period before its time", () => {
  expect(periodPath(grid, [null, 10, 20, null, null, null], STEP, false, place)).toBe("M0,90H10V80H20");
});

it("nothing is drawn over a hole, nor after the newest value", () => {
  expect(periodPath(grid, [null, 10, null, 30, null, null], STEP, false, place)).toBe("M0,90H10M20,70H30");
});

it("values each five minutes are five minutes wide", () => {
  expect(periodPath(grid, [null, null, null, null, null, 10], 5 * STEP, false, place)).toBe("M0,90H50");
});

it("a reduced grid joins what belongs together", () => {
  expect(periodPath(grid, [10, 20, null, null, 30, 40], STEP, true, place)).toBe("M-10,90H0V80H10V70H40V60H50");
  expect(periodPath(grid, [10, null, null, null, null, 40], STEP, true, place)).toBe("M-10,90H0M40,60H50");
});

it("a band has a box for each period", () => {
  expect(bandPath(grid, [null, 30, null], [null, 10, null], STEP, false, place)).toBe("M0,70H10V90H0Z");
});

it("a time is read by the value whose period covers it", () => {
  const values = [null, 10, 20, null, null, null];
  expect(coveringIndex(grid, values, STEP, STEP)).toBe(1);
  expect(coveringIndex(grid, values, STEP, STEP + 1)).toBe(2);
  expect(coveringIndex(grid, values, STEP, 2 * STEP + 1)).toBeNull();
  expect(coveringIndex(grid, [null, null, null, null, null, 7], 5 * STEP, STEP)).toBe(5);
  expect(coveringIndex(grid, [null, null, null, null, null, 7], 5 * STEP, 0)).toBeNull();
});
