import { expect, it } from "vitest";
import { cutGrid } from "./cut-grid";

const start = Date.UTC(2026, 10, 21, 10, 0, 0);
const range = (from: number, to: number) => ({ startMs: start + from * 1000, endMs: start + to * 1000 });

it("a zoomed chart gets the points of its part and one more on each side, by pairs", () => {
  const grid = { startMs: start, stepMs: 1000, count: 20 };
  const cut = cutGrid(grid, range(5, 8));
  expect(cut.grid).toEqual({ startMs: start + 4000, stepMs: 1000, count: 7 });
  expect(cut.cut(Array.from({ length: 20 }, (_, at) => at))).toEqual([4, 5, 6, 7, 8, 9, 10]);
});
