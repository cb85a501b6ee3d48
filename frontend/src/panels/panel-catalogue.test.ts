import { expect, it } from "vitest";
import type { SignalCatalogue, SignalInfo } from "@/api/types";
import { assignPlaces, OUTCOME_PLACES } from "@/lib/series/palette-places";
import { panelsOf, portableExpression } from "./panel-catalogue";
import { chartSeries, hasValues, keepLargest, panelFault } from "./panel-series";

function signal(id: string, panel: string, unit: SignalInfo["unit"] = "count", group = "g"): SignalInfo {
  return {
    ...{ id, unit, group, title: id.toUpperCase(), help: `help of ${id}`, orientation: "neutral", legend: "" },
    expression: `rate(${id}_total[$window])`,
    panel: { id: panel, title: `Panel ${panel}`, stacked: false, table: false },
    layers: [],
    limit: false,
  };
}
const catalogue = (signals: SignalInfo[]): SignalCatalogue => ({
  groups: [{ id: "g", title: "G", optional: false }],
  signals,
  resources: [],
});

it("signals of one panel share a chart by unit, in page order", () => {
  const [group] = panelsOf(
    catalogue([signal("a", "p"), signal("b", "q"), signal("c", "p", "seconds"), signal("d", "p")]),
  );
  expect(group?.panels.map(({ id, unit }) => [id, unit])).toEqual([
    ["p", "count"],
    ["q", "count"],
    ["p.seconds", "seconds"],
  ]);
  expect(group?.panels[0]?.signals.map(({ id }) => id)).toEqual(["a", "d"]);
  expect(group?.panels[2]?.title).toBe("Panel p: C");
});

it("a group without signals is left out, one that is not announced comes last", () => {
  expect(panelsOf({ ...catalogue([]), groups: [{ id: "g", title: "G", optional: false }] })).toEqual([]);
  expect(
    panelsOf(catalogue([signal("x", "p", "count", "new"), signal("a", "q")])).map(({ group }) => group.id),
  ).toEqual(["g", "new"]);
});

it("PromQL is copied with a window in place of the variable", () => {
  expect(portableExpression(signal("a", "p"), 0.5)).toBe("rate(a_total[5s])");
  expect(portableExpression(signal("a", "p"), 240)).toBe("rate(a_total[240s])");
});

const panel = { id: "p", title: "P", unit: "count" as const, help: "", signals: [signal("a", "p"), signal("b", "p")] };
const grid = { startMs: 0, stepMs: 1000, count: 2, reduced: false, completeMs: 0 };
const line = (name: string, values: (number | null)[]) => ({ name, labels: { name }, values });

it("series keep the panel's order and know their signal", () => {
  const results = [
    { signal: "b", series: [line("x", [1, 2])], error: null },
    { signal: "a", series: [line("x", [3, null])], error: null },
  ];
  const series = chartSeries(panel, { ...grid, results });
  expect(series.map(({ id }) => id.split(" ")[0])).toEqual(["a", "b"]);
  expect(new Set(series.map(({ id }) => id)).size).toBe(2);
});

it("a timeout has its colour on the live page, alone or among other failures, and on a run's page", () => {
  const failure = (outcome: string) => ({ name: outcome, labels: { outcome }, values: [1, 2] });
  const places = (outcomes: readonly string[]) => {
    const results = [
      { signal: "a", series: outcomes.map(failure), error: null },
      { signal: "b", series: [line("rejected", [1, 1])], error: null },
    ];
    const series = chartSeries(panel, { ...grid, results });
    const found = assignPlaces(series, new Map());
    expect(new Set(found.values()).size).toBe(outcomes.length + 1);
    return found.get(series.find(({ name }) => name === "timeout")?.id ?? "");
  };
  expect(places(["timeout"])).toBe(OUTCOME_PLACES.timeout);
  expect(places(["dns", "refused", "timeout"])).toBe(OUTCOME_PLACES.timeout);
});

it("a signal keeps its colour when one before it has nothing, and an instance on every chart of one signal", () => {
  const results = [
    { signal: "a", series: [], error: null },
    { signal: "b", series: [line("x", [1, 2])], error: null },
  ];
  const [second] = chartSeries(panel, { ...grid, results });
  expect(second?.wish).toBe(1);
  const of = (id: string, names: readonly string[]) => {
    const series = names.map((name) => line(name, [1, 2]));
    const one = { ...panel, signals: [signal(id, "p")] };
    const drawn = chartSeries(one, { ...grid, results: [{ signal: id, series, error: null }] });
    return drawn.find(({ name }) => name === "x")?.wish;
  };
  expect(of("a", ["w", "x"])).toBe(of("b", ["x", "y"]));
});

it("too many series: those that reach highest stay, in order", () => {
  const series = [5, 1, 9].map((value, index) => ({ id: String(index), name: "", values: [value] }));
  expect(keepLargest(series, 2)).toEqual({ series: [series[0], series[2]], dropped: 1 });
});

it("a failed signal is told apart from an empty one", () => {
  const error = { code: "x", detail: "too costly" };
  const answer = {
    ...grid,
    results: [
      { signal: "a", series: [], error },
      { signal: "b", series: [], error: null },
    ],
  };
  expect(panelFault(answer)).toEqual({ count: 1, total: 2, detail: "too costly" });
  expect(hasValues({ signals: [] }, answer)).toBe(false);
  const zero = { ...grid, results: [{ signal: "a", series: [line("x", [null, 0])], error: null }] };
  expect(hasValues({ signals: [] }, zero)).toBe(true);
});
