import { describe, expect, it } from "vitest";
import type { SignalInfo } from "@/api/types";
import type { Answer, Series } from "@/lib/series/series";
import type { FleetWords } from "./fleet-series";
import { furtherSignals, hasFleet, promptSeries, usualMode } from "./fleet-together";
import type { PanelInfo } from "./panel-catalogue";

const words: FleetWords = {
  total: (kind, count) => `${kind} of ${count}`,
  spread: (count) => `spread of ${count}`,
  middle: "median",
  outlier: (name) => `! ${name}`,
  worst: (name) => `worst ${name}`,
  all: (count) => `all ${count}`,
};

function signal(id: string, more: Partial<SignalInfo> = {}): SignalInfo {
  return {
    ...{ id, unit: "count", group: "g", title: id, help: "", orientation: "more_is_worse", legend: "", expression: id },
    panel: { id: "p", title: "P", stacked: false, table: false },
    ...{ total: "sum", layers: [], limit: id.endsWith("_limit"), delivery: null },
    ...more,
  };
}
const panel = (...signals: SignalInfo[]): PanelInfo => ({
  ...{ id: "p", title: "P", unit: "count", help: "", split: null },
  signals: signals.length > 0 ? signals : [signal("a")],
});
const instance = (name: string, values: number[], labels: Record<string, string> = {}): Series => ({
  name: [name, ...Object.values(labels)].join(" "),
  labels: { instance: name, ...labels },
  values,
});
function answer(results: Record<string, Series[]>): Answer {
  const list = Object.entries(results).map(([signal, series]) => ({ signal, series, error: null }));
  return { startMs: 0, stepMs: 1000, count: 2, reduced: true, completeMs: 0, results: list };
}
const web = (count: number, value = (place: number) => place) =>
  Array.from({ length: count }, (_, place) => instance(`web-${place}`, [value(place), value(place)]));
const together = (name: string, values: number[], labels: Record<string, string> = {}): Series => ({
  ...{ name, labels, values },
});
const draw = (one: PanelInfo, found: Answer, mode?: "total" | "each" | "spread") =>
  promptSeries(one, found, mode, words).series;

describe("how instances are drawn where nobody has chosen", () => {
  it("is each for few, and the spread for many", () => {
    expect(usualMode(panel(), answer({ a: web(4) }))).toBe("each");
    expect(usualMode(panel(), answer({ a: web(5) }))).toBe("spread");
    expect(usualMode(panel(), undefined)).toBe("each");
  });

  it("is the total where bands of many kinds or signals would lie over each other", () => {
    const users = web(10).flatMap(({ labels: { instance: name = "" } }) =>
      ["app", "batch", "root"].map((user) => instance(name, [1, 2], { mysql_user: user })),
    );
    expect(usualMode(panel(), answer({ a: users }))).toBe("total");
    const three = panel(signal("a"), signal("b"), signal("c"), signal("a_limit"));
    expect(usualMode(three, answer({ a: web(9), b: web(9), c: web(9), a_limit: web(9) }))).toBe("total");
    expect(usualMode(panel(signal("a"), signal("a_limit")), answer({ a: web(9), a_limit: web(9) }))).toBe("spread");
  });

  it("asks for what it draws, and for nothing more", () => {
    const bounded = panel(signal("a"), signal("a_limit"), signal("b", { total: null }));
    const found = answer({ a: web(9), a_limit: web(9), b: web(9) });
    expect(furtherSignals(bounded, found, "total")).toEqual(["a@total", "a_limit@total"]);
    expect(furtherSignals(bounded, found, undefined)).toEqual(["a@low", "a@middle", "a@high"]);
    expect(furtherSignals(bounded, found, "each")).toEqual([]);
    expect(furtherSignals(bounded, undefined, "total")).toEqual([]);
    expect(furtherSignals(bounded, answer({ a: web(1) }), "total")).toEqual([]);
  });
});

it("what has one instance, and several kinds of one, has nothing to choose", () => {
  expect(hasFleet(panel(), answer({ a: web(1) }))).toBe(false);
  const kinds = ["app", "root"].map((user) => instance("db-1", [1, 2], { mysql_user: user }));
  expect(hasFleet(panel(), answer({ a: kinds }))).toBe(false);
  expect(hasFleet(panel(), answer({ a: web(2) }))).toBe(true);
  expect(hasFleet(panel(signal("a", { total: null })), answer({ a: web(2) }))).toBe(false);
});

it("until the total is here instances are drawn one by one, and never the total among them", () => {
  expect(draw(panel(), answer({ a: web(2) }), "total").map(({ name }) => name)).toEqual(["web-0", "web-1"]);
  const both = answer({ a: web(2), "a@total": [together("a", [1, 1])] });
  expect(draw(panel(), both, "each").map(({ name }) => name)).toEqual(["web-0", "web-1"]);
});

it("the total is the server's, with its limit", () => {
  const bounded = panel(signal("a"), signal("a_limit"));
  const found = answer({
    ...{ a: web(2), a_limit: web(2) },
    "a@total": [together("a", [10, 11])],
    "a_limit@total": [together("a_limit", [16, 16])],
  });
  expect(draw(bounded, found, "total")).toMatchObject([
    { name: "sum of 2", values: [10, 11] },
    { name: "a_limit · sum of 2", kind: "limit", values: [16, 16] },
  ]);
});

it("kinds have a total each, named after them", () => {
  const users = ["app", "root"].flatMap((user) => [1, 2].map((place) => instance(`db-${place}`, [1, 2], { user })));
  const found = answer({
    a: users,
    "a@total": ["app", "root"].map((user) => together(user, [3, 4], { user })),
  });
  expect(draw(panel(), found, "total").map(({ name }) => name)).toEqual(["app · sum of 2", "root · sum of 2"]);
});

it("the spread is a band with its median, the worst by the signal's direction, and who stands out", () => {
  const found = (series: Series[]) =>
    answer({
      a: series,
      "a@low": [together("a", [0, 0])],
      "a@middle": [together("a", [2, 2])],
      "a@high": [together("a", [9, 9])],
    });
  const names = (orientation: SignalInfo["orientation"], series = web(3)) =>
    draw(panel(signal("a", { orientation })), found(series), "spread").map(({ name }) => name);
  const [band] = draw(panel(), found(web(3)), "spread");
  expect(band).toMatchObject({ kind: "band", values: [9, 9], floor: [0, 0], brief: "all 3" });
  expect(names("more_is_worse")).toEqual(["spread of 3", "median", "worst web-2"]);
  expect(names("more_is_better")).toEqual(["spread of 3", "median", "worst web-0"]);
  expect(names("neutral")).toEqual(["spread of 3", "median"]);
  const odd = web(6, (place) => (place === 4 ? 90 : 10 + (place % 2)));
  expect(names("more_is_worse", odd)).toEqual(["spread of 6", "median", "! web-4"]);
});

it("the worst is whom findings name, whatever this chart measures", () => {
  const found = answer({ a: web(3), "a@low": [together("a", [0, 0])], "a@middle": [], "a@high": [] });
  const names = (worst: string[]) =>
    promptSeries(panel(), found, "spread", words, worst).series.map(({ name }) => name);
  expect(names(["db-1", "web-1"])).toContain("worst web-1");
  expect(names(["db-1"])).toContain("worst web-2");
});

it("who has been gone for a minute is in no count", () => {
  const gone: Series = { ...instance("web-9", []), values: [1, ...Array.from({ length: 99 }, () => null)] };
  const long = web(2).map((one) => ({ ...one, values: Array.from({ length: 100 }, () => 1) }));
  const found = { ...answer({ a: [...long, gone], "a@total": [together("a", [2])] }), count: 100 };
  expect(draw(panel(), found, "total").map(({ name }) => name)).toEqual(["sum of 2"]);
});

describe("colours", () => {
  const wishes = (one: PanelInfo, found: Answer) =>
    new Map(draw(one, found, "each").map(({ name, thing, wish, variant }) => [name, { thing, wish, variant }]));

  it("of an instance are the same on every chart, whatever else its series are called", () => {
    const single = wishes(panel(), answer({ a: web(2) }));
    const processes = wishes(panel(), answer({ a: web(2).map((one) => ({ ...one, name: `shop ${one.name} app` })) }));
    expect(processes.get("shop web-1 app")).toEqual(single.get("web-1"));
    const two = panel(signal("a"), signal("b"));
    const titled = (title: string) => web(2).map((one) => ({ ...one, name: `${title} · ${one.name}` }));
    const shared = wishes(two, answer({ a: titled("a"), b: titled("b") }));
    expect(shared.get("b · web-1")).toEqual({ ...single.get("web-1"), variant: 1 });
  });

  it("of what stands beside the only instance are the same on every host", () => {
    const modes = (host: string) =>
      wishes(panel(), answer({ a: ["user", "steal"].map((mode) => instance(host, [1, 2], { mode })) }));
    expect(modes("db-1").get("db-1 steal")).toEqual(modes("web-9").get("web-9 steal"));
  });
});
