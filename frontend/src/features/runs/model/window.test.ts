import { expect, it } from "vitest";
import { clampWindow, formatWindow, parseWindow, windowOf } from "./window";

const start = Date.UTC(2026, 10, 21, 10, 0, 0);
const range = (from: number, to: number) => ({ startMs: start + from * 1000, endMs: start + to * 1000 });

it("a window drawn on a chart is whole seconds within the run", () => {
  expect(windowOf(range(2.4, 10.6), start, 20)).toEqual({ from: 2, to: 11 });
  expect(windowOf(range(-5, 3), start, 20)).toEqual({ from: 0, to: 3 });
  expect(windowOf(range(15, 90), start, 20)).toEqual({ from: 15, to: 20 });
  expect(windowOf(range(-9, -1), start, 20)).toBeNull();
  expect(windowOf(range(25, 30), start, 20)).toBeNull();
});

it("windows are in order and never shorter than a second", () => {
  expect(clampWindow({ from: 9, to: 3 }, 20)).toEqual({ from: 3, to: 9 });
  expect(clampWindow({ from: 20, to: 20 }, 20)).toEqual({ from: 19, to: 20 });
});

it("the address holds a window", () => {
  expect(parseWindow(formatWindow({ from: 60, to: 120.5 }))).toEqual({ from: 60, to: 120.5 });
  for (const text of [null, "", "5", "9-3", "a-b", "-5-9"]) expect(parseWindow(text)).toBeNull();
});
