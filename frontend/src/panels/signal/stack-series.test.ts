import { expect, it } from "vitest";
import type { SignalInfo } from "@/api/types";
import type { Answer, Series } from "@/lib/series/series";
import { commonExtent, type FleetWords, hasLateFleet, type Pane } from "@/panels/fleet-series";
import type { PanelInfo } from "@/panels/panel-catalogue";
import { stackPanes } from "./stack-series";

const STEP = 10_000;
const words: FleetWords = {
  total: (kind, count) => `${kind} of ${count}`,
  spread: (count) => `spread of ${count}`,
  middle: "median",
  outlier: (name) => `! ${name}`,
  worst: (name) => name,
  all: (count) => `all ${count}`,
};
function signal(id: string, layers: string[] = [], total: NonNullable<SignalInfo["total"]> = "sum"): SignalInfo {
  return {
    ...{ id, total, layers, unit: "count", group: "g", title: id, help: "", orientation: "neutral", expression: id },
    legend: "{{db}} {{type}} {{event}}",
    limit: id.endsWith("_limit"),
    panel: { id: "p", title: "P", split: "role", stacked: true, table: false },
    delivery: { source: "Performance Insights", period_ms: STEP, events: false },
  };
}
const panelOf = (...signals: SignalInfo[]): PanelInfo => ({
  ...{ id: "p", title: "P", unit: "count", help: "", split: "role", stacked: true, signals },
});
const WAITS = panelOf(signal("load", ["type", "event"]), signal("load_limit"));

const wait = (db: string, type: string, event: string, values: (number | null)[], role = "writer"): Series => ({
  name: `${db} ${event}`,
  labels: { db, role, ...(event !== "" && { type, event }) },
  values,
});
const cores = (db: string, count: number, role = "writer"): Series => ({
  name: db,
  labels: { db, role },
  values: [count, count, count],
});
function answer(series: Series[], limits: Series[] = []): Answer {
  const results = [
    { signal: "load", series, error: null, newestMs: 2 * STEP },
    { signal: "load_limit", series: limits, error: null, newestMs: 2 * STEP },
  ];
  return { startMs: 0, stepMs: STEP, count: 3, reduced: false, completeMs: 0, results };
}
const drawn = (pane: Pane | undefined) => pane?.series.map(({ name, values }) => [name, values]);
const panes = (of: Answer, mode: "total" | "each" | "spread" = "total", panel = WAITS) =>
  stackPanes(panel, of, mode, words, "Others");

it("one instance is a stack: CPU first, then by name, what is left over on top, and its cores as a bound", () => {
  const found = panes(
    answer(
      [
        wait("a", "LWLock", "WALWrite", [1, 2, 3]),
        wait("a", "CPU", "CPU", [1, 1, 1]),
        wait("a", "io", "io/file", [1, 1, 1]),
        wait("a", "", "", [0.5, 0.5, 0.5]),
      ],
      [cores("a", 4)],
    ),
  );
  expect(found).toHaveLength(1);
  expect(drawn(found[0])).toEqual([
    ["CPU", [1, 1, 1]],
    ["io/file", [1, 1, 1]],
    ["LWLock:WALWrite", [1, 2, 3]],
    ["Others", [0.5, 0.5, 0.5]],
    ["load_limit", [4, 4, 4]],
  ]);
  expect(found[0]?.series[0]).toMatchObject({ kind: "band", stack: "all", slot: 0, periodMs: STEP });
  expect(commonExtent(found)).toEqual({ min: 1, max: 5.5 });
});

it("an event that is not among the greatest for a while is nothing, but an instance that is late is missed", () => {
  const found = panes(
    answer([
      wait("a", "CPU", "CPU", [1, 1, 1]),
      wait("a", "io", "io/file", [2, null, 2]),
      wait("b", "CPU", "CPU", [4, 4, null]),
      wait("b", "", "", [0, 0, null]),
    ]),
  );
  expect(drawn(found[0])).toEqual([
    ["CPU", [5, 5, null]],
    ["io/file", [2, 0, null]],
  ]);
});

it("writer and readers stand side by side in the same colours, each under its own cores", () => {
  const found = panes(
    answer(
      [
        wait("w", "io", "io/file", [1, 1, 1]),
        wait("r", "CPU", "CPU", [3, 3, 3], "reader"),
        wait("r", "io", "io/file", [2, 2, 2], "reader"),
      ],
      [cores("w", 2), cores("r", 8, "reader")],
    ),
  );
  expect(found.map(({ value, count }) => [value, count])).toEqual([
    ["writer", 1],
    ["reader", 1],
  ]);
  const slot = (place: number) => found[place]?.series.find(({ id }) => id === "io/file")?.slot;
  expect(slot(0)).toBe(slot(1));
  expect(found.map((pane) => pane.series.at(-1)?.values)).toEqual([
    [2, 2, 2],
    [8, 8, 8],
  ]);
});

it("each instance has a chart of its own, or the instances' sums are a band", () => {
  const two = answer([
    wait("a", "CPU", "CPU", [1, 1, 1]),
    wait("a", "io", "io/file", [1, 1, 1]),
    wait("b", "CPU", "CPU", [5, 5, 5]),
  ]);
  expect(hasLateFleet(WAITS, two)).toBe(true);
  expect(panes(two, "each").map(({ name, count }) => [name, count])).toEqual([
    ["a", 1],
    ["b", 1],
  ]);
  const writerFirst = answer([wait("a", "CPU", "CPU", [1, 1, 1], "reader"), wait("b", "CPU", "CPU", [1, 1, 1])]);
  expect(panes(writerFirst, "each").map(({ name }) => name)).toEqual(["b", "a"]);
  expect(panes(two, "spread")[0]?.series).toMatchObject([
    { kind: "band", name: "spread of 2", values: [5, 5, 5], floor: [2, 2, 2] },
    { name: "median", values: [3.5, 3.5, 3.5] },
  ]);
});

it("several waits of one instance are no fleet, and are the same in every form", () => {
  const alone = answer([wait("a", "CPU", "CPU", [1, 1, 1]), wait("a", "io", "io/file", [1, 1, 1])]);
  expect(hasLateFleet(WAITS, alone)).toBe(false);
  expect(drawn(panes(alone, "each")[0])).toEqual(drawn(panes(alone)[0]));
  expect(drawn(panes(alone, "spread")[0])).toEqual(drawn(panes(alone)[0]));
});

it("more events than there are colours are one layer with what is left over", () => {
  const many = Array.from({ length: 12 }, (_, place) => wait("a", "io", `io/${place}`, Array(3).fill(20 - place)));
  const series = panes(answer([...many, wait("a", "", "", [1, 1, 1])]))[0]?.series ?? [];
  expect(series).toHaveLength(8);
  expect(series.at(-1)).toMatchObject({ name: "Others", values: [56, 56, 56] });
});

it("signals are layers in their order, and shares are averaged over instances", () => {
  const share = panelOf(signal("user", [], "mean"), signal("system", [], "mean"));
  const of = (db: string, value: number) => ({ name: db, labels: { db }, values: [value, value, value] });
  const results = ["user", "system"].map((id, place) => ({
    ...{ signal: id, error: null, newestMs: 2 * STEP },
    series: [of("a", 0.2 + place / 10), of("b", 0.4 + place / 10)],
  }));
  const found = panes({ ...answer([]), results }, "total", share);
  expect(found[0]?.series.map(({ name, values }) => [name, values[0]?.toFixed(2)])).toEqual([
    ["user", "0.30"],
    ["system", "0.40"],
  ]);
});
