import { expect, it } from "vitest";
import type { SignalCatalogue, SignalInfo } from "@/api/types";
import { panelsOf, portableExpression } from "@/panels/panel-catalogue";
import { chartSeries, hasValues, keepLargest, panelFault } from "@/panels/panel-series";

function signal(id: string, panel: string, unit: SignalInfo["unit"] = "count", group = "g"): SignalInfo {
  return {
    ...{ id, unit, group, title: id.toUpperCase(), help: `help of ${id}`, orientation: "neutral", legend: "" },
    expression: `rate(${id}_total[$window])`,
    panel: { id: panel, title: `Panel ${panel}`, stacked: false },
    layers: [],
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
  expect(hasValues(answer)).toBe(false);
  expect(hasValues({ ...grid, results: [{ signal: "a", series: [line("x", [null, 0])], error: null }] })).toBe(true);
});
