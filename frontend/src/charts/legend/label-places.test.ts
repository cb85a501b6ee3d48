import { expect, it } from "vitest";
import { labelPlaces, textWidth } from "./label-places";

it("puts labels beside their lines where there is room", () => {
  expect(labelPlaces([20, 100], 30, 150)).toEqual([5, 85]);
});

it("moves labels of lines that end together apart, in the order of the lines", () => {
  expect(labelPlaces([52, 50, 51], 30, 200)).toEqual([95, 35, 65]);
});

it("stays within the plot", () => {
  expect(labelPlaces([0, 150], 30, 150)).toEqual([0, 120]);
  expect(labelPlaces([149, 150, 148], 30, 150)).toEqual([90, 120, 60]);
});

it("none lies over another for any heights", () => {
  for (let seed = 1; seed < 200; seed += 1) {
    const wanted = [0, 1, 2, 3].map((place) => (seed * 7919 * (place + 3)) % 160);
    const sorted = labelPlaces(wanted, 30, 150).toSorted((a, b) => a - b);
    for (const [place, top] of sorted.entries()) {
      expect(top).toBeGreaterThanOrEqual(0);
      expect(top + 30).toBeLessThanOrEqual(150);
      if (place > 0) expect(top - (sorted[place - 1] ?? 0)).toBeGreaterThanOrEqual(30);
    }
  }
});

it("takes Japanese letters for wide ones", () => {
  expect(textWidth("待ち")).toBeGreaterThan(textWidth("ok"));
});
