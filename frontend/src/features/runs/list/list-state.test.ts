import { describe, expect, it } from "vitest";
import {
  comparePath,
  decodeRunList,
  encodeRunList,
  MOST_COMPARED,
  type RunListState,
  sortBy,
  toggleSelected,
  USUAL_LIST,
} from "./list-state";

const round = (state: RunListState) => decodeRunList(encodeRunList(state, new URLSearchParams()));

describe("address of the list", () => {
  it("holds filter, order and columns, and gives them back", () => {
    const state: RunListState = {
      filters: { q: "<limits>", values: { scenario: "a & b", tag: "x" }, ignored: [] },
      ...{ sort: "p95", descending: false, columns: ["verdict", "name", "param.pool,size", "load"] },
    };
    expect(round(state)).toEqual(state);
  });

  it("is empty for the list as it opens, and keeps what others put there", () => {
    expect(encodeRunList(USUAL_LIST, new URLSearchParams()).toString()).toBe("");
    const filters = { q: "x", values: {}, ignored: [] };
    const kept = encodeRunList({ ...USUAL_LIST, filters }, new URLSearchParams("tz=utc&q=old&filter=job%3Aapp"));
    expect(Object.fromEntries(kept)).toEqual({ tz: "utc", filter: "job:app", q: "x" });
  });

  it("shows what an older address showed", () => {
    const state = decodeRunList(new URLSearchParams("where=scenario:ingest verdict:failed tag:a leak&sort=p95"));
    expect(state).toEqual({
      ...USUAL_LIST,
      filters: { q: "leak", values: { scenario: "ingest", verdict: "failed", tag: "a" }, ignored: [] },
      sort: "p95",
    });
    expect(round(state)).toEqual(state);
    expect(decodeRunList(new URLSearchParams("state=exploded&verdict=maybe&sort=colour&column=x"))).toEqual(USUAL_LIST);
  });

  it("sorts names from A and figures from the greatest, and turns on the second click", () => {
    const byName = sortBy(USUAL_LIST, "name");
    expect([byName.sort, byName.descending]).toEqual(["name", false]);
    expect(sortBy(byName, "name").descending).toBe(true);
    expect(sortBy(byName, "rate").descending).toBe(true);
    for (const state of [byName, sortBy(byName, "name"), sortBy(byName, "rate")]) expect(round(state)).toEqual(state);
  });
});

it("no more runs are chosen than one comparison takes", () => {
  const ids = Array.from({ length: MOST_COMPARED + 2 }, (_, place) => `run-${place}`);
  const chosen = ids.reduce<readonly string[]>(toggleSelected, []);
  expect(chosen).toEqual(ids.slice(0, MOST_COMPARED));
  expect(toggleSelected(chosen, "run-0")).toEqual(ids.slice(1, MOST_COMPARED));
  expect(comparePath(["a", "b"])).toBe("/runs/compare?run=a&run=b");
});
