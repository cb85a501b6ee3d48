import { describe, expect, it } from "vitest";
import type { HeadroomEntry } from "@/api/types";
import { limitRows } from "./limit-rows";

type Reached = NonNullable<HeadroomEntry["first_full"]>;

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
    first_full: null,
    as_of_ms: null,
    late: false,
    source: null,
    ...more,
  };
}
const at = (at_ms: number, more: Partial<Reached> = {}): Partial<HeadroomEntry> => ({
  first_full: { at_ms, before: false, interval_ms: 1000, ...more },
});
const places = (entries: readonly HeadroomEntry[]) =>
  Object.fromEntries(limitRows(entries, 0).map(({ resource, rank }) => [resource, rank?.place ?? null]));

describe("rows of limits", () => {
  it("are one for each resource, with its worst instance and how many are full", () => {
    const rows = limitRows(
      [
        entry("pool", "web-3", { state: "exhausted" }),
        entry("cpu", "db"),
        entry("pool", "web-1", { state: "exhausted" }),
        entry("pool", "web-2"),
      ],
      0,
    );
    expect(rows.map(({ resource, worst, full, entries }) => [resource, worst.name, full, entries.length])).toEqual([
      ["pool", "web-3", 2, 3],
      ["cpu", "db", 0, 1],
    ]);
  });

  it("name whom findings call the worst, where none is nearer to its limit", () => {
    const full = (name: string) => entry("pool", name, { state: "exhausted" });
    const worst = (entries: readonly HeadroomEntry[], found: readonly string[]) =>
      limitRows(entries, 0, found).map((row) => row.worst.name);
    expect(worst([full("web-1"), full("web-7")], ["db-1", "web-7"])).toEqual(["web-7"]);
    expect(worst([full("web-1"), full("web-7")], [])).toEqual(["web-1"]);
    expect(worst([full("web-1"), entry("pool", "web-7")], ["web-7"])).toEqual(["web-1"]);
  });

  it("are numbered by the first instance that was full, others have no number", () => {
    expect(
      places([
        entry("cpu", "a", at(9000)),
        entry("pool", "b", at(20_000)),
        entry("pool", "c", at(3000)),
        entry("fds", "d"),
      ]),
    ).toEqual({ pool: 1, cpu: 2, fds: null });
  });

  it("share a number where nobody can tell which came first", () => {
    expect(places([entry("a", "", at(5000)), entry("b", "", at(5400)), entry("c", "", at(9000))])).toEqual({
      a: 1,
      b: 1,
      c: 3,
    });
    const minutely = at(60_000, { interval_ms: 60_000 });
    expect(places([entry("pool", "", at(3000)), entry("rds", "", minutely)])).toEqual({ pool: 1, rds: 1 });
    expect(
      places([
        entry("swap", "", at(0, { before: true })),
        entry("cpu", "", at(0, { before: true })),
        entry("pool", "", at(500)),
      ]),
    ).toEqual({ swap: 1, cpu: 1, pool: 3 });
  });
});
