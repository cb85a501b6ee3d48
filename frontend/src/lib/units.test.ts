// @vitest-environment node
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { axisFormatter, formatValue, type Unit, unitLabel } from "@/lib/units";

describe("formatValue", () => {
  const shared = JSON.parse(readFileSync("../formats/tests/numbers.json", "utf8")) as [number | null, Unit, string][];

  it.each<[number | null, Unit, string]>([
    ...shared,
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
