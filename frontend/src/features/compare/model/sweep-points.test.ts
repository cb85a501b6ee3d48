import { expect, it } from "vitest";
import type { Sweep } from "@/api/compare/types";
import { run } from "@/testing/compare-fixtures";
import { metricOptions, scenarioVersions, sweptParameters } from "./scenario-facts";
import { sweepMarks, sweepPoints, sweepTicks, valueText } from "./sweep-points";

const metric = { id: "rate", title: "Rate", unit: "per_second", orientation: "more_is_better", help: "" };
const text = {
  best: "best",
  diminishing: "enough",
  both: "both",
  runs: (count: number) => `n=${count}`,
  leftOut: "left out",
};
const leftOut = { run: "c", name: "cut off", x: 700, y: 0.2, verdict: "invalid" };
const point = (value: number, x: number, verdict: string | null) => ({
  ...{
    value,
    runs: ["a", "b", "c"],
    left_out: [],
    x,
    x_low: x - 1,
    x_high: x + 1,
    y: null,
    y_low: null,
    y_high: null,
    verdict,
  },
});
const sweep: Sweep = {
  ...{ scenario: "ingest", scenario_version: null, parameter: "pool", first: metric, second: metric },
  points: [point(10, 900, "failed"), point(20, 1700, "passed"), point(0.1 + 0.2, 1, null)],
  ...{ best: 20, tied: [20], diminishing: 10, remarks: [], next: { value: 32, reason: "beyond", beside: 10 } },
  own: [],
};

it("draws a point a value, named by the parameter, with the verdict as its shape", () => {
  const points = sweepPoints(sweep, "x", text);
  expect(points[0]).toEqual({
    ...{ id: "10", x: 10, y: 900, low: 899, high: 901, label: "pool = 10", lines: ["n=3"], look: "bad" },
  });
  expect(points.map(({ look }) => look)).toEqual(["bad", "plain", "plain"]);
  expect(valueText(0.1 + 0.2)).toBe("0.3");
  expect(sweepTicks(sweep.points).map(({ label }) => label)).toEqual(["10", "20", "0.3"]);
});

it("draws each run that does not count beside the mean of the others, as a hollow point with its own figures", () => {
  const mixed = { ...sweep, points: [{ ...point(10, 900, "failed"), left_out: [leftOut] }] };
  const drawn = (which: "x" | "y") =>
    sweepPoints(mixed, which, text).map(({ id, x, y, look, lines }) => [id, x, y, look, lines]);
  expect(drawn("x")).toEqual([
    ["10", 10, 900, "bad", ["n=2"]],
    ["c", 10, 700, "hollow", ["cut off", "left out"]],
  ]);
  expect(drawn("y")[1]).toEqual(["c", 10, 0.2, "hollow", ["cut off", "left out"]]);
});

it("marks the best and where more brings little, once when they are one", () => {
  expect(sweepMarks(sweep, text).map(({ x, label }) => [x, label])).toEqual([
    [20, "best"],
    [10, "enough"],
  ]);
  expect(sweepMarks({ ...sweep, diminishing: 20 }, text).map(({ label }) => label)).toEqual(["both"]);
  expect(sweepMarks({ ...sweep, best: null, diminishing: null }, text)).toEqual([]);
});

it("offers parameters with numbers, the most varied first, and versions in the order of their first run", () => {
  const runs = [
    run("a", { parameters: { pool: "10", mode: "fast", ttl: "30s" }, scenario_version: "v2", started_ms: 5 }),
    run("b", { parameters: { pool: "20", mode: "slow", ttl: "30s" }, scenario_version: "v1", started_ms: 1 }),
  ];
  expect(sweptParameters(runs, null)).toEqual([
    { key: "pool", values: 2 },
    { key: "ttl", values: 1 },
  ]);
  expect(sweptParameters(runs, "v1")[0]).toEqual({ key: "pool", values: 1 });
  expect(scenarioVersions(runs)).toEqual(["v1", "v2"]);
});

it("parts result figures from signals", () => {
  const options = metricOptions(
    [metric, { ...metric, id: "signal:waits" }, { ...metric, id: "route:GET /" }],
    "load",
    "signals",
    "routes",
  );
  expect(options.map(({ group, items }) => [group, ...items.map(({ value }) => value)])).toEqual([
    ["load", "rate"],
    ["routes", "route:GET /"],
    ["signals", "signal:waits"],
  ]);
});
