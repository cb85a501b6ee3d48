import { describe, expect, it } from "vitest";
import { splitAt } from "./plot-lines";

const grid = { startMs: 10_000, stepMs: 1000, count: 5 };

describe("splitAt", () => {
  it("leaves a line whole whose points are all final", () => {
    expect(splitAt([1, 2, 3, 4, 5], grid, undefined)).toEqual([[1, 2, 3, 4, 5], null]);
    expect(splitAt([1, 2, 3, 4, 5], grid, 14_000)).toEqual([[1, 2, 3, 4, 5], null]);
  });

  it("draws what is awaited apart, joined to the last final point", () => {
    expect(splitAt([1, 2, 3, 4, 5], grid, 12_400)).toEqual([
      [1, 2, 3, null, null],
      [null, null, 3, 4, 5],
    ]);
    expect(splitAt([1, 2, 3, 4, 5], grid, 9000)).toEqual([
      [null, null, null, null, null],
      [1, 2, 3, 4, 5],
    ]);
  });
});
