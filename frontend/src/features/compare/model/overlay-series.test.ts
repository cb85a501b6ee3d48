import { expect, it } from "vitest";
import { comparison, group } from "@/testing/compare-fixtures";
import { laneSeries, overlayGrid, overlayRange, runNames, runSlots } from "./overlay-series";

const groups = [group("a", ["a", "b"], true), group("c", ["c"])];
const lane = { offset_seconds: 0, rate: [1], ok_rate: [1], failures: [0], p50: [0.1], p95: [0.2], p99: [null] };

it("gives repeats the colour of their group and a place, so a dash, of their own", () => {
  expect([...runSlots(groups)]).toEqual([
    ["a", 0],
    ["b", 8],
    ["c", 1],
  ]);
  expect([...runNames(groups).values()]).toEqual(["group a #1", "group a #2", "group c"]);
});

it("lays runs on one axis whose zero may lie inside", () => {
  const grid = overlayGrid(comparison());
  expect(grid).toEqual({ startMs: -5000, stepMs: 1000, count: 66 });
  expect(overlayRange(grid, null)).toEqual({ startMs: -5000, endMs: 60_000 });
  expect(overlayRange(grid, { from: 10, to: 500 })).toEqual({ startMs: 10_000, endMs: 60_000 });
  expect(overlayRange(grid, { from: 70, to: 80 })).toEqual({ startMs: -5000, endMs: 60_000 });
});

it("leaves out hidden runs without moving the colours of the others", () => {
  const series = ["a", "b", "c"].map((run) => ({ ...lane, run }));
  const drawn = laneSeries("p95", series, runSlots(groups), runNames(groups), ["a"]);
  expect(drawn).toEqual([
    { id: "b", name: "group a #2", values: [0.2], slot: 8 },
    { id: "c", name: "group c", values: [0.2], slot: 1 },
  ]);
});
