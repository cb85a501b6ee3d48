import { describe, expect, it } from "vitest";
import {
  comparePath,
  decodeRunList,
  encodeRunList,
  MOST_COMPARED,
  NO_FILTERS,
  type RunListState,
  sortBy,
  toggleSelected,
} from "./list-state";

const round = (state: RunListState) => decodeRunList(encodeRunList(state, new URLSearchParams()));

describe("address of the list", () => {
  it("holds filter, order and columns, and gives them back", () => {
    const state: RunListState = {
      where: 'scenario:"a & b" pool>10 <limits>',
      ...{ sort: "p95", descending: false, columns: ["verdict", "name", "param.pool,size", "load"] },
    };
    expect(round(state)).toEqual(state);
  });

  it("is empty for the list as it opens, and keeps what others put there", () => {
    expect(encodeRunList(NO_FILTERS, new URLSearchParams()).toString()).toBe("");
    const kept = encodeRunList({ ...NO_FILTERS, where: "x" }, new URLSearchParams("tz=utc&q=old&filter=job%3Aapp"));
    expect(Object.fromEntries(kept)).toEqual({ tz: "utc", filter: "job:app", where: "x" });
  });

  it("shows what an older address showed", () => {
    const state = decodeRunList(new URLSearchParams("scenario=ingest&verdict=failed&tag=a&period=7d&q=leak&sort=p95"));
    expect(state).toEqual({
      ...NO_FILTERS,
      where: "scenario:ingest verdict:failed since:7d tag:a leak",
      sort: "p95",
    });
    expect(round(state)).toEqual(state);
    expect(decodeRunList(new URLSearchParams("state=exploded&verdict=maybe&sort=colour&column=x"))).toEqual(NO_FILTERS);
  });

  it("sorts names from A and figures from the greatest, and turns on the second click", () => {
    const byName = sortBy(NO_FILTERS, "name");
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
