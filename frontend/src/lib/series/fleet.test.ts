import { describe, expect, it } from "vitest";
import { type Member, outliersOf, periodOf, spreadOf, totalOf, worstOf } from "./fleet";

const STEP = 60_000;
const grid = (count: number) => ({ startMs: 0, stepMs: STEP, count });
const member = (values: (number | null)[], periodMs = STEP): Member => ({ values, periodMs });

describe("how long a value lasts", () => {
  it("is the shortest distance between two, and what was declared where that says nothing", () => {
    expect(periodOf([1, 2, null, 3], STEP, STEP)).toBe(STEP);
    expect(periodOf([1, null, null, null, null, 2], STEP, STEP)).toBe(5 * STEP);
    expect(periodOf([null, 1, null], STEP, STEP)).toBe(STEP);
    expect(periodOf([1, 2], 1000, STEP)).toBe(STEP);
  });
});

describe("a total", () => {
  it("is the sum, mean, highest or lowest of all", () => {
    const members = [member([1, 2]), member([3, 6])];
    expect(totalOf(members, grid(2), "sum")).toEqual([4, 8]);
    expect(totalOf(members, grid(2), "mean")).toEqual([2, 4]);
    expect(totalOf(members, grid(2), "highest")).toEqual([3, 6]);
    expect(totalOf(members, grid(2), "lowest")).toEqual([1, 2]);
  });

  it("is unknown, not lower, while the value of one instance is late", () => {
    expect(totalOf([member([1, 2, 3]), member([10, 20, null])], grid(3), "sum")).toEqual([11, 22, null]);
  });

  it("is unknown where one instance has a hole", () => {
    expect(totalOf([member([1, 2, 3]), member([10, null, 30])], grid(3), "sum")).toEqual([11, null, 33]);
  });

  it("does not miss an instance that began later, or that is gone since long", () => {
    expect(totalOf([member([1, 2, 3]), member([null, 20, 30])], grid(3), "sum")).toEqual([1, 22, 33]);
    const gone = [10, ...Array.from({ length: 29 }, () => null)];
    const stays = gone.map(() => 1);
    const total = totalOf([member(stays), member(gone)], grid(30), "sum");
    expect(total[0]).toBe(11);
    expect(new Set(total.slice(1))).toEqual(new Set([1]));
  });

  it("takes a value of five minutes for each of them", () => {
    const slow = member([null, null, null, null, 50, null], 5 * STEP);
    expect(totalOf([member([1, 1, 1, 1, 1, 1]), slow], grid(6), "sum")).toEqual([51, 51, 51, 51, 51, null]);
  });

  it("of nothing is nothing", () => {
    expect(totalOf([], grid(2), "sum")).toEqual([null, null]);
    expect(totalOf([member([null, null])], grid(2), "sum")).toEqual([null, null]);
  });
});

it("the spread goes from the lowest to the highest, with the median between", () => {
  const { low, middle, high } = spreadOf([member([1, 4]), member([2, null]), member([9, 6])], grid(2));
  expect([low[0], middle[0], high[0]]).toEqual([1, 2, 9]);
  expect([low[1], middle[1], high[1]]).toEqual([null, null, null]);
});

describe("the worst instance", () => {
  const three = [member([1, 9, 1]), member([4, 4, null]), member([2, 3, 3])];

  it("is the one whose values are worst over the whole time", () => {
    expect(worstOf(three, "more_is_worse")).toBe(1);
    expect(worstOf(three, "more_is_better")).toBe(2);
  });

  it("is none where nothing is worse, and where all are alike", () => {
    expect(worstOf(three, "neutral")).toBeNull();
    expect(worstOf([member([8, 8]), member([8, 8])], "more_is_worse")).toBeNull();
    expect(worstOf([member([8, 8]), member([null, null])], "more_is_worse")).toBeNull();
    expect(worstOf([], "more_is_worse")).toBeNull();
  });
});

describe("an instance that stands out", () => {
  const calm = [0.3, 0.31, 0.29, 0.32].map((value) => member([value, value, value]));

  it("is far from the median of all in robust deviations", () => {
    expect(outliersOf([...calm, member([0.9, 0.9, 0.9])])).toEqual([4]);
    expect(outliersOf([...calm, member([0.33, 0.33, 0.33])])).toEqual([]);
  });

  it("is found where all others are exactly alike", () => {
    const same = Array.from({ length: 7 }, () => member([5, 5]));
    expect(outliersOf([...same, member([9, 9])])).toEqual([7]);
    expect(outliersOf(same)).toEqual([]);
  });

  it("is judged by what it does now, not by one spike or by the past", () => {
    expect(outliersOf([...calm, member([0.3, 0.95, 0.3, 0.3, 0.3])])).toEqual([]);
    expect(outliersOf([...calm, member([0.9, 0.9, 0.9, 0.3, 0.3, 0.3, 0.3, 0.3])])).toEqual([]);
  });

  it("is one of the five farthest where many are", () => {
    const usual = Array.from({ length: 20 }, () => member([1]));
    const odd = [5, 9, 3, 8, 7, 6, 4].map((value) => member([value]));
    expect(outliersOf([...usual, ...odd]).length).toBeLessThanOrEqual(5);
    expect(outliersOf([...usual, member([5]), member([9])])).toEqual([20, 21]);
  });

  it("needs others to differ from, and a difference that matters", () => {
    expect(outliersOf([member([1]), member([1]), member([9])])).toEqual([]);
    expect(outliersOf([100, 100.01, 99.99, 100.02, 101].map((value) => member([value])))).toEqual([]);
    expect(outliersOf([...calm, member([null])])).toEqual([]);
  });
});
