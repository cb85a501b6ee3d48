// @vitest-environment node
import { describe, expect, it } from "vitest";
import { axisFormatter, formatValue, type Unit, unitLabel } from "@/lib/units";

describe("formatValue", () => {
  it.each<[number | null, Unit, string]>([
    [0, "seconds", "0 s"],
    [0.0000042, "seconds", "4.20 µs"],
    [0.0124, "seconds", "12.4 ms"],
    [1.5, "seconds", "1.50 s"],
    [90, "seconds", "90 s"],
    [200, "seconds", "3 min 20 s"],
    [-200, "seconds", "-3 min 20 s"],
    [512, "bytes", "512 B"],
    [1536, "bytes", "1.50 KiB"],
    [3 * 2 ** 30, "bytes_per_second", "3 GiB/s"],
    [0.852, "ratio", "85.2%"],
    [1, "ratio", "100%"],
    [1204, "per_second", "1,204/s"],
    [0.25, "per_second", "0.250/s"],
    [15_300, "count", "15.3k"],
    [2_500_000, "per_second", "2.50M/s"],
    [151, "count", "151"],
    [-3, "count", "-3"],
    [null, "count", "–"],
    [Number.NaN, "count", "–"],
    [Number.POSITIVE_INFINITY, "seconds", "∞"],
  ])("writes %s %s as %s", (value, unit, text) => {
    expect(formatValue(value, unit)).toBe(text);
  });

  it("names times in Japanese", () => {
    expect(formatValue(1.5, "seconds", "ja")).toBe("1.50 秒");
    expect(formatValue(200, "seconds", "ja")).toBe("3分20秒");
    expect(unitLabel("per_second", "ja")).toBe("毎秒");
  });
});

describe("axisFormatter", () => {
  it("writes all ticks of an axis in one scale", () => {
    const milli = axisFormatter("seconds", 0.005, 0.02);
    expect([0, 0.005, 0.02].map(milli)).toEqual(["0", "5 ms", "20 ms"]);
    const mega = axisFormatter("bytes", 2 ** 29, 2 ** 31);
    expect([2 ** 29, 2 ** 30, 2 ** 31].map(mega)).toEqual(["0.5 GiB", "1.0 GiB", "2.0 GiB"]);
    const rate = axisFormatter("per_second", 5000, 20_000);
    expect([5000, 20_000].map(rate)).toEqual(["5k/s", "20k/s"]);
    expect([0.25, 1].map(axisFormatter("ratio", 0.25, 1))).toEqual(["25%", "100%"]);
  });
});
