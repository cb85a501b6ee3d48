import { expect, it } from "vitest";
import type { Trend } from "@/api/compare/types";
import {
  changeMarks,
  commitStep,
  groupLabel,
  trendLabel,
  trendLevels,
  trendOf,
  trendPlaces,
  trendPoints,
  versionMarks,
} from "./trend-points";

const point = (run: string, started_ms: number, value: number | null) => ({
  ...{
    run,
    series: "a",
    started_ms,
    name: run,
    value,
    commit: "",
    branch: "",
    dirty: null,
    verdict: null,
    is_baseline: run === "b",
  },
});
const change = {
  ...{ series: "a", run: "c", previous_run: "b", commit: "fedcba0987654321", previous_commit: "1234567890abcdef" },
  ...{ before: 10, after: 15, change: 0.5, p_value: 0.0001, opinion: "worse" as const },
};
const trend: Trend = {
  ...{ scenario: "s", scenario_version: null, versions: ["v1", "v2"], remark: "" },
  metric: { id: "p95", title: "p95", unit: "seconds", orientation: "more_is_worse", help: "" },
  routes: [],
  own: [],
  series: [{ id: "a", label: "", runs: 4 }],
  points: [point("a", 1000, 10), point("b", 2000, 10), point("c", 9000, 15), point("d", 10_000, null)],
  changes: [change],
};
const places = trendPlaces(trend, "order");

it("places runs one by one or by time", () => {
  expect([...places.values()]).toEqual([1, 2, 3, 4]);
  expect(trendPlaces(trend, "time").get("c")).toBe(9000);
  const points = trendPoints(trend, places, ({ run }) => ({ label: run, lines: [] }));
  expect(points.map(({ ring }) => ring)).toEqual([false, true, false, false]);
});

it("puts a change between the runs before and after, with its size and the commits", () => {
  expect(changeMarks([change], places)).toEqual([{ id: "c", x: 2.5, label: "+50%  1234567 → fedcba0", tone: "worse" }]);
  expect(commitStep({ ...change, commit: "", previous_commit: "" })).toBe("");
  expect(commitStep({ ...change, previous_commit: "" })).toBe("? → fedcba0");
});

it("draws the level on each side of a change, and none without one", () => {
  expect(trendLevels(trend, places)).toEqual([
    { from: 1, to: 2, value: 10 },
    { from: 3, to: 4, value: 15 },
  ]);
  expect(trendLevels({ ...trend, changes: [] }, places)).toEqual([]);
});

it("follows each group of runs by itself", () => {
  const other = { ...point("x", 1500, 90), series: "x" };
  const series = [...trend.series, { id: "x", label: "pool=9", runs: 1 }];
  const two = { ...trend, points: [other, ...trend.points], series };
  expect(trendOf(two, "a")).toEqual(trend);
  expect(trendOf(two, "x")).toMatchObject({ points: [other], changes: [], series: [{ label: "pool=9" }] });
  expect(groupLabel(two, "x")).toBe("pool=9");
});

it("names a run and what is other than in the run before, else its commit", () => {
  const named = { ...point("a", 0, 1), name: "a name that is far too long", commit: "1234567890abcdef" };
  const other = { ...point("x", 1500, 90), name: "", series: "x", commit: "1234567890abcdef" };
  const series = [...trend.series, { id: "x", label: "pool=9", runs: 2 }];
  const two = { ...trend, series, points: [named, other, { ...other, run: "y" }] };
  expect([0, 1, 2].map((place) => trendLabel(two, place, "Nov 2"))).toEqual([
    "a name that is …\n1234567",
    "Nov 2\npool=9",
    "Nov 2\n1234567",
  ]);
  expect(trendLabel({ ...trend, points: [{ ...point("a", 0, 1), name: "" }] }, 0, "Nov 2")).toBe("Nov 2\n–");
});

it("marks where the version of the scenario changes", () => {
  const versions = new Map([
    ["a", "v1"],
    ["b", "v1"],
    ["c", "v2"],
  ]);
  expect(versionMarks(trend, versions, places, (version) => version)).toEqual([
    { id: "version c", x: 2.5, label: "v2", tone: "neutral" },
  ]);
});
