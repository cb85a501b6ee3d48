import { describe, expect, it } from "vitest";
import type { HeadroomEntry } from "@/api/types";
import { diagnosis, finding, headline } from "@/testing/finding-fixtures";
import { limitRows, type Said, settledOrder } from "./limit-rows";

function entry(resource: string, name: string, more: Partial<HeadroomEntry> = {}): HeadroomEntry {
  return {
    resource,
    name,
    title: resource,
    unit: "count",
    group: "pool",
    labels: { instance: name },
    used: 5,
    limit: 10,
    headroom: 0.5,
    exhaustion_seconds: null,
    history: [],
    history_step_ms: 5000,
    state: "ok",
    near: 0.8,
    demand: null,
    as_of_ms: null,
    late: false,
    source: null,
    ...more,
  };
}
const full = (resource: string, name: string) => entry(resource, name, { state: "exhausted", headroom: 0 });
const said = (...findings: Parameters<typeof finding>[]): Said => {
  const found = findings.map((given) => finding(...given));
  return { ...diagnosis({ headline: headline(found[0]) }), findings: found };
};

describe("rows of limits", () => {
  it("are one for each resource, with its worst instance and how many are full", () => {
    const rows = limitRows(
      [
        entry("pool", "web-3", { state: "exhausted" }),
        entry("cpu", "db"),
        entry("pool", "web-1", { state: "exhausted" }),
        entry("pool", "web-2"),
      ],
      undefined,
    );
    expect(rows.map(({ resource, worst, full, entries }) => [resource, worst.name, full, entries.length])).toEqual([
      ["pool", "web-3", 2, 3],
      ["cpu", "db", 0, 1],
    ]);
  });

  it("name whom findings call the worst, where none is nearer to its limit", () => {
    const worst = (entries: readonly HeadroomEntry[], ...named: readonly string[]) =>
      limitRows(
        entries,
        said(...named.map((name): Parameters<typeof finding> => [name, { labels: { instance: name } }])),
      ).map((row) => row.worst.name);
    expect(worst([full("pool", "web-1"), full("pool", "web-7")], "db-1", "web-7")).toEqual(["web-7"]);
    expect(worst([full("pool", "web-1"), full("pool", "web-7")])).toEqual(["web-1"]);
    expect(worst([full("pool", "web-1"), entry("pool", "web-7")], "web-7")).toEqual(["web-1"]);
  });

  it("put what the headline names first, and call exhausted only what findings accuse", () => {
    const rows = limitRows(
      [full("cpu", "db"), full("pool", "web-1"), full("fds", "web-1")],
      said(["pool", { resource: "pool", from_ms: 3000 }], ["files", { resource: "fds" }]),
    );
    expect(rows.map(({ resource, worst, firstMs, calm }) => [resource, worst.state, firstMs, calm])).toEqual([
      ["pool", "exhausted", 3000, false],
      ["cpu", "full", null, false],
      ["fds", "exhausted", null, false],
    ]);
  });

  it("say that nothing suffered only where the server does", () => {
    const calm = (kind: "none" | "full" | "cannot-tell") =>
      limitRows([full("cpu", "db")], { headline: { ...headline(undefined), kind }, findings: [] })[0]?.calm;
    expect([calm("none"), calm("full"), calm("cannot-tell")]).toEqual([true, true, false]);
    expect(limitRows([full("cpu", "db")], undefined)[0]?.calm).toBe(false);
  });
});

it("rows keep their places until a state changes or one is nearer by far", () => {
  const rows = (...left: readonly (readonly [string, number])[]) =>
    limitRows(
      left.map(([resource, headroom]) => entry(resource, "", { headroom, state: headroom > 0.2 ? "ok" : "near" })),
      undefined,
    );
  const first = settledOrder(rows(["a", 0.5], ["b", 0.55]), { state: "", order: [] });
  expect(first.order).toEqual(["a", "b"]);
  expect(settledOrder(rows(["b", 0.5], ["a", 0.55]), first)).toBe(first);
  expect(settledOrder(rows(["b", 0.4], ["a", 0.55]), first).order).toEqual(["b", "a"]);
  expect(settledOrder(rows(["b", 0.19], ["a", 0.25]), first).order).toEqual(["b", "a"]);
  // What the server puts last for another reason is no reason to move.
  expect(settledOrder(rows(["a", 0.5], ["b", 0]), settledOrder(rows(["a", 0.5], ["b", 0]), first)).order).toEqual([
    "a",
    "b",
  ]);
});
