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
      [full("cpu", "db"), full("pool", "web-1"), full("fds", "web-1"), full("disk", "db")],
      said(
        ["pool", { resource: "pool", from_ms: 3000 }],
        ["files", { resource: "fds" }],
        ["disk", { resource: "disk", muted: true }],
      ),
    );
    expect(rows.map(({ resource, worst, firstMs, calm }) => [resource, worst.state, firstMs, calm])).toEqual([
      ["pool", "exhausted", 3000, false],
      ["cpu", "full", null, false],
      ["fds", "exhausted", null, false],
      ["disk", "full", null, false],
    ]);
  });

  it("say that nothing suffered only where the server does", () => {
    const calm = (kind: "none" | "full" | "cannot-tell") =>
      limitRows([full("cpu", "db")], { headline: { ...headline(undefined), kind }, findings: [] })[0]?.calm;
    expect([calm("none"), calm("full"), calm("cannot-tell")]).toEqual([true, true, false]);
    expect(limitRows([full("cpu", "db")], undefined)[0]?.calm).toBe(false);
  });
});

describe("the order of rows", () => {
  const rows = (...left: readonly (readonly [string, number])[]) =>
    limitRows(
      left.map(([resource, headroom]) => entry(resource, "", { headroom, state: headroom > 0.2 ? "ok" : "near" })),
      undefined,
    );

  it("is the server's at first, and stays", () => {
    const first = settledOrder(rows(["a", 0.5], ["b", 0.55], ["c", 0.6]), []);
    expect(first).toEqual(["a", "b", "c"]);
    expect(settledOrder(rows(["b", 0.5], ["a", 0.55], ["c", 0.6]), first)).toBe(first);
    // Nearer by far, or in another state, but not the nearest.
    expect(settledOrder(rows(["a", 0.1], ["c", 0.15], ["b", 0.55]), first)).toBe(first);
    // What the server puts last for another reason is no reason to move.
    expect(settledOrder(rows(["a", 0.5], ["c", 0.45], ["b", 0.42]), first)).toBe(first);
  });

  it("has a new nearest limit change places with the one before it", () => {
    expect(settledOrder(rows(["c", 0.4], ["b", 0.5], ["a", 0.55]), ["a", "b", "c"])).toEqual(["c", "b", "a"]);
    expect(settledOrder(rows(["b", 0.19], ["a", 0.25], ["c", 0.3]), ["a", "b", "c"])).toEqual(["b", "a", "c"]);
    const both = limitRows([full("b", "db"), full("a", "web")], undefined);
    expect(settledOrder(both, ["a", "b"])).toEqual(["b", "a"]);
  });

  it("has the last row take the place of one that is gone, and new ones at the end", () => {
    expect(settledOrder(rows(["a", 0.5], ["c", 0.55], ["d", 0.6]), ["a", "b", "c", "d"])).toEqual(["a", "d", "c"]);
    expect(settledOrder(rows(["a", 0.5], ["b", 0.55]), ["a", "b", "c"])).toEqual(["a", "b"]);
    expect(settledOrder(rows(["a", 0.5], ["new", 0.55], ["b", 0.6]), ["a", "b"])).toEqual(["a", "b", "new"]);
  });

  it("shows a hidden one that is nearer by far, in the place of the least of those that are shown", () => {
    const names = Array.from({ length: 15 }, (_, place) => `r${place}`);
    const ordinary = rows(...names.map((name): [string, number] => [name, 0.9]));
    expect(settledOrder(ordinary, names)).toBe(names);
    const near = [...ordinary.filter((one) => one.resource !== "r14")];
    near.splice(1, 0, ...rows(["r14", 0.5]));
    const order = settledOrder(near, names);
    expect([order[12], order[14]]).toEqual(["r14", "r12"]);
    expect(order.filter((name, place) => name !== names[place])).toEqual(["r14", "r12"]);
  });
});
