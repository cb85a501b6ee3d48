// @vitest-environment node
import { describe, expect, it } from "vitest";
import type { Values } from "@/lib/series/series";
import type { Geometry } from "./geometry";
import { areaPath, LinePath } from "./line-path";

const geometry: Geometry = {
  ...{ x: 0, y: 0, width: 100, height: 100 },
  range: { startMs: 0, endMs: 10_000 },
  domain: { min: 0, max: 10 },
};
const grid = (count: number, startMs = 0) => ({ startMs, stepMs: 1000, count });

describe("LinePath", () => {
  it("lifts the pen at a gap and draws a lone value as a dot", () => {
    const path = new LinePath(false).update(grid(6), [1, 2, null, 5, null, 7], geometry);
    expect(path).toBe("M0,90L10,80M30,50h0M50,30h0");
  });

  it("draws steps", () => {
    expect(new LinePath(true).update(grid(3), [1, 1, 4], geometry)).toBe("M0,90H10V90H20V60");
  });

  it("keeps one point beyond each side of the range and nothing further", () => {
    const values = Array.from({ length: 20 }, () => 5);
    const path = new LinePath(false).update(grid(20, -5000), values, geometry);
    expect(path.startsWith("M-10,50L0,50")).toBe(true);
    expect(path.endsWith("L100,50L110,50")).toBe(true);
  });

  it("formats only what is new, and says the same as a path made afresh", () => {
    const live = new LinePath(false);
    const values: (number | null)[] = Array.from({ length: 8 }, (_, index) => (index === 3 ? null : index));
    live.update(grid(8), values, geometry);
    expect(live.formatted).toBe(8);
    const steps: [number, Values][] = [
      [0, [...values, 9]],
      [0, [...values, 4, 6]],
      [2000, [...values.slice(2), 4, 6, null]],
      [4000, [...values.slice(4), 4, 6, null, 3]],
      [4000, [1, 2, 3, 4]],
    ];
    for (const [startMs, next] of steps) {
      const afresh = new LinePath(false).update(grid(next.length, startMs), next, geometry);
      expect(live.update(grid(next.length, startMs), next, geometry)).toBe(afresh);
    }
    live.update(grid(8), values, geometry);
    live.update(grid(9), [...values, 5], geometry);
    expect(live.formatted).toBeLessThanOrEqual(2);
  });

  it("starts over when the scale changes", () => {
    const live = new LinePath(false);
    live.update(grid(4), [1, 2, 3, 4], geometry);
    const other = { ...geometry, domain: { min: 0, max: 20 } };
    expect(live.update(grid(4), [1, 2, 3, 4], other)).toBe(new LinePath(false).update(grid(4), [1, 2, 3, 4], other));
    expect(live.formatted).toBe(4);
  });
});

describe("areaPath", () => {
  it("closes one area for each run of values", () => {
    expect(areaPath(grid(4), [5, 5, null, 2], [1, 1, 1, 1], geometry)).toBe("M0,50L10,50L10,90L0,90ZM30,80L30,90Z");
    expect(areaPath(grid(2), [5, 5], null, geometry)).toBe("M0,50L10,50L10,100L0,100Z");
  });
});
