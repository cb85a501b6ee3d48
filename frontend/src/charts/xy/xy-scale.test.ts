import { describe, expect, it } from "vitest";
import { canBeLog, labelWidth, nearestPoint, scaled, spacedTicks, xyDomain, xyValueDomain } from "./xy-scale";

const point = (y: number | null, low?: number, high?: number) => ({
  ...{ id: String(y), x: 1, y, label: "" },
  ...(low === undefined || high === undefined ? {} : { low, high }),
});

describe("horizontal axis", () => {
  it("leaves air at both sides, also around a single value", () => {
    expect(xyDomain([10, 60], "linear")).toEqual({ min: 8, max: 62 });
    expect(xyDomain([10], "linear")).toEqual({ min: 9.5, max: 10.5 });
    expect(xyDomain([], "linear")).toEqual({ min: 0, max: 1 });
  });

  it("puts doubled values at equal distances on a logarithmic scale, which needs values above zero", () => {
    const [a = 0, b = 0, c = 0] = [10, 20, 40].map((value) => scaled(value, "log"));
    expect(b - a).toBeCloseTo(c - b);
    expect(canBeLog([1, 2])).toBe(true);
    expect(canBeLog([0, 2])).toBe(false);
    expect(canBeLog([2])).toBe(false);
  });

  it("drops labels that would touch, and keeps the first and the last", () => {
    const ticks = [10, 11, 50, 99, 100].map((value) => ({ value, label: String(value) }));
    const shown = spacedTicks(ticks, { min: 0, max: 110 }, "linear", 220);
    expect(shown.map(({ label }) => label)).toEqual(["10", "50", "100"]);
  });
});

it("measures a label of two lines by the longer one", () => {
  expect(labelWidth("ab\nabcd")).toBeCloseTo(4 * 6.4);
  expect(labelWidth("夜間")).toBe(22);
});

describe("vertical axis", () => {
  it("holds the error bars and begins at zero", () => {
    const domain = xyValueDomain([point(0.2, 0.1, 0.32), point(null)], "seconds", 5, false);
    expect(domain.min).toBe(0);
    expect(domain.max).toBeGreaterThanOrEqual(0.32);
  });

  it("begins above zero only when asked and when values differ little", () => {
    const level = [point(5000), point(5040)];
    expect(xyValueDomain(level, "per_second", 5, false).min).toBe(0);
    const tight = xyValueDomain(level, "per_second", 5, true);
    expect(tight.min).toBeGreaterThan(4900);
    expect(tight.min).toBeLessThan(5000);
    expect(tight.max).toBeGreaterThan(5040);
    expect(xyValueDomain([point(10), point(100)], "per_second", 5, true).min).toBe(0);
    expect(xyValueDomain([point(0.98), point(1)], "ratio", 5, true).max).toBe(1);
  });
});

it("finds the nearest point, along the horizontal axis first", () => {
  const above = { px: 40, py: 5 };
  const below = { px: 40, py: 90 };
  expect(nearestPoint([{ px: 10, py: 80 }, above, below], 26, 80)).toBe(below);
  expect(nearestPoint([{ px: 10, py: 80 }, above, below], 26, 9)).toBe(above);
  expect(nearestPoint([], 26, 0)).toBeUndefined();
});
