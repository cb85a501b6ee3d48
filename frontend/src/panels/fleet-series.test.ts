import { expect, it } from "vitest";
import type { SignalInfo } from "@/api/types";
import type { Answer, Series } from "@/lib/series/series";
import { commonExtent, type FleetWords, hasLateFleet, instancePanes, isLate, newestOf, panesOf } from "./fleet-series";
import type { PanelInfo } from "./panel-catalogue";
import { hasValues } from "./panel-series";

const words: FleetWords = {
  total: (kind, count) => `${kind} of ${count}`,
  spread: (count) => `spread of ${count}`,
  middle: "median",
  outlier: (name) => `! ${name}`,
  worst: (name) => `worst ${name}`,
  all: (count) => `all ${count}`,
};

function signal(id: string, total: NonNullable<SignalInfo["total"]> | null): SignalInfo {
  return {
    ...{
      id,
      total,
      unit: "count",
      group: "g",
      title: id,
      help: "",
      orientation: "neutral",
      legend: "",
      expression: id,
    },
    panel: { id: "p", title: "P", stacked: false, table: false },
    layers: [],
    limit: id.endsWith("_limit"),
    delivery: { source: "CloudWatch", period_ms: 60_000, events: false },
  };
}
const panel = (total: NonNullable<SignalInfo["total"]> | null = "sum", split: string | null = null): PanelInfo => ({
  ...{ id: "p", title: "P", unit: "count", help: "", split },
  signals: [signal("a", total)],
});
const one = (name: string, values: (number | null)[], labels: Record<string, string> = {}): Series => ({
  name,
  labels: { name, ...labels },
  values,
});
function answer(series: Series[], newestMs: number | null = null): Answer {
  const results = [{ signal: "a", series, error: null, newestMs }];
  return { startMs: 0, stepMs: 60_000, count: 2, reduced: false, completeMs: 0, results };
}

it("a single instance is drawn as it is, whatever is chosen", () => {
  for (const mode of ["total", "each", "spread"] as const) {
    const [pane] = panesOf(panel(), answer([one("x", [1, 2])]), mode, words);
    expect(pane?.series).toMatchObject([{ name: "x", kind: "period", periodMs: 60_000, values: [1, 2] }]);
  }
  expect(hasLateFleet(panel(), answer([one("x", [1, 2])]))).toBe(false);
});

it("the total is a line before the thin lines of its instances", () => {
  const [pane] = panesOf(panel(), answer([one("x", [1, 2]), one("y", [3, 4])]), "total", words);
  expect(pane?.series.map(({ name, faint }) => [name, faint ?? false])).toEqual([
    ["x", true],
    ["y", true],
    ["sum of 2", false],
  ]);
  expect(pane?.series.at(-1)?.values).toEqual([4, 6]);
  expect(pane?.count).toBe(2);
});

it("the spread is a band with a median", () => {
  const [pane] = panesOf(panel(), answer([one("x", [1, 2]), one("y", [3, null])]), "spread", words);
  const [band, middle] = pane?.series ?? [];
  expect(band).toMatchObject({ name: "spread of 2", kind: "band", values: [3, null], floor: [1, null] });
  expect(middle).toMatchObject({ name: "median", values: [2, null] });
});

it("an instance that stands out is named in every form", () => {
  const many = [10, 11, 9, 10, 90].map((value, index) => one(`i${index}`, [value, value]));
  for (const mode of ["total", "each", "spread"] as const) {
    const names = panesOf(panel(), answer(many), mode, words)[0]?.series.map(({ name }) => name);
    expect(names?.filter((name) => name.startsWith("!"))).toEqual(["! i4"]);
  }
});

it("of very many instances those with the highest values are drawn, and what is left out is counted", () => {
  const many = Array.from({ length: 100 }, (_, index) => one(`i${index}`, [100 + index, 100 + index]));
  const [each] = panesOf(panel(), answer(many), "each", words);
  expect([each?.series.length, each?.dropped]).toEqual([24, 76]);
  expect(each?.series.map(({ name }) => name)).toContain("i99");
  const [total] = panesOf(panel(), answer(many), "total", words);
  expect([total?.series.length, total?.dropped]).toEqual([41, 0]);
  expect(total?.series.at(-1)?.values).toEqual([14_950, 14_950]);
});

it("what has no total is drawn one by one", () => {
  const two = answer([one("x", [1, 2]), one("y", [3, 4])]);
  expect(panesOf(panel(null), two, "total", words)[0]?.series.map(({ name }) => name)).toEqual(["x", "y"]);
  expect(hasLateFleet(panel(null), two)).toBe(false);
  expect(hasLateFleet(panel(), two)).toBe(true);
});

it("writer and readers stand side by side on one axis, others after them", () => {
  const roles = answer([
    one("b", [2, 3], { role: "reader" }),
    one("alone", [1, 1]),
    one("a", [40, 50], { role: "writer" }),
    one("c", [4, 5], { role: "reader" }),
  ]);
  const panes = panesOf(panel("sum", "role"), roles, "each", words);
  expect(panes.map(({ value, count }) => [value, count])).toEqual([
    ["writer", 1],
    ["reader", 2],
    [null, 1],
  ]);
  expect(commonExtent(panes)).toEqual({ min: 1, max: 50 });
  expect(panesOf(panel("sum", null), roles, "each", words)).toHaveLength(1);
});

it("the newest value of all signals tells how late the panel is", () => {
  expect(newestOf(panel(), answer([], 5))).toBe(5);
  expect(newestOf(panel(), answer([]))).toBeNull();
  expect(isLate(panel())).toBe(true);
});

const bounded = (): PanelInfo => ({ ...panel("sum", null), signals: [signal("a", "sum"), signal("a_limit", "sum")] });
function withLimits(series: Series[], limits: Series[]): Answer {
  const results = [
    { signal: "a", series, error: null, newestMs: 60_000 },
    { signal: "a_limit", series: limits, error: null, newestMs: 180_000 },
  ];
  return { startMs: 0, stepMs: 60_000, count: 3, reduced: false, completeMs: 0, results };
}

it("a bound is a dashed line that ends with what it bounds", () => {
  const two = withLimits([one("x", [1, 2, null]), one("y", [3, 4, null])], [one("x", [8, 8, 8]), one("y", [8, 8, 8])]);
  const limit = (mode: "total" | "each" | "spread", answer = two) =>
    panesOf(bounded(), answer, mode, words)[0]?.series.filter(({ kind }) => kind === "limit");
  expect(limit("total")).toMatchObject([{ name: "a_limit · sum of 2", values: [16, 16, null] }]);
  expect(limit("each")).toMatchObject([{ name: "a_limit", values: [8, 8, null] }]);
  expect(limit("spread")).toMatchObject([{ name: "a_limit", values: [8, 8, null] }]);
  const unlike = withLimits([one("x", [1, 2, 3]), one("y", [3, 4, 5])], [one("x", [8, 8, 8]), one("y", [4, 4, 4])]);
  expect(limit("each", unlike)?.map(({ name }) => name)).toEqual(["x", "y"]);
  expect(limit("spread", unlike)).toEqual([]);
  const unknown = withLimits([one("x", [1, 2, 3]), one("y", [3, 4, 5])], [one("x", [8, 8, 8])]);
  expect(limit("total", unknown)).toMatchObject([]);
});

it("a bound is not what tells how late a panel is, nor anything to show by itself", () => {
  const alone = withLimits([], [one("x", [8, 8, 8])]);
  const bare = {
    ...alone,
    results: alone.results.map((one) => (one.signal === "a" ? { ...one, newestMs: null } : one)),
  };
  expect(newestOf(bounded(), withLimits([], []))).toBe(60_000);
  expect(newestOf(bounded(), bare)).toBeNull();
  expect(hasValues(bounded(), bare)).toBe(false);
  expect(hasValues(bounded(), alone)).toBe(true);
});

it("each instance has a chart of its own, in the order of numbers, with its bound or that of all", () => {
  const web = (place: number, value: number) => one(`web-${place}`, [value, value], { instance: `web-${place}` });
  const places = [10, 2, 1];
  const found = {
    ...withLimits(
      places.map((place) => web(place, place)),
      [web(2, 8), one("all", [9, 9])],
    ),
  };
  const panes = instancePanes(bounded(), found);
  expect(panes.map(({ name, series }) => [name, series.map(({ values }) => values[0])])).toEqual([
    ["web-1", [1, 9]],
    ["web-2", [2, 8, 9]],
    ["web-10", [10, 9]],
  ]);
  expect(commonExtent(panes)).toEqual({ min: 1, max: 10 });
});

it("of a hundred instances those that reach highest have a chart, and what is left out is counted", () => {
  const many = Array.from({ length: 100 }, (_, place) => one(`i${place}`, [place, null], { instance: `i${place}` }));
  const panes = instancePanes(panel(), answer(many));
  expect(panes.map(({ name }) => name)).toEqual(Array.from({ length: 24 }, (_, place) => `i${76 + place}`));
  expect(panes.map(({ dropped }) => dropped).filter((dropped) => dropped > 0)).toEqual([76]);
});

it("what has no instance is one chart", () => {
  const panes = instancePanes(panel(), answer([one("ok", [1, 2]), one("refused", [3, 4])]));
  expect(panes.map(({ name, series }) => [name, series.length])).toEqual([[undefined, 2]]);
  expect(instancePanes(panel(), answer([]))).toEqual([]);
});
