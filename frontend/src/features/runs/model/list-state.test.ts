import { describe, expect, it } from "vitest";
import {
  activeFilters,
  comparePath,
  decodeRunList,
  encodeRunList,
  MOST_COMPARED,
  NO_FILTERS,
  periodStart,
  type RunListState,
  sortBy,
  toggleSelected,
  withoutFilter,
  withoutFilters,
} from "./list-state";

const round = (state: RunListState) => decodeRunList(encodeRunList(state, new URLSearchParams()));

describe("address of the list", () => {
  it("holds every filter and gives it back", () => {
    const state: RunListState = {
      ...{ q: "pool & <limits>", scenario: "ingest", tool: "k6", state: "finished", verdict: "failed" },
      ...{ tags: ["a,b", "c"], branch: "feature/x", commit: "4f1c", author: "mika", period: "30d" },
      ...{ sort: "p95", descending: false },
    };
    expect(round(state)).toEqual(state);
  });

  it("is empty for the list as it opens, and keeps what others put there", () => {
    expect(encodeRunList(NO_FILTERS, new URLSearchParams()).toString()).toBe("");
    const kept = encodeRunList({ ...NO_FILTERS, q: "x" }, new URLSearchParams("tz=utc&q=old&filter=job%3Aapp"));
    expect(Object.fromEntries(kept)).toEqual({ tz: "utc", filter: "job:app", q: "x" });
  });

  it("takes what it does not know as not said", () => {
    const state = decodeRunList(
      new URLSearchParams("state=exploded&verdict=maybe&sort=colour&period=1y&tag=&scenario="),
    );
    expect(state).toEqual(NO_FILTERS);
  });

  it("sorts names from A and figures from the greatest, and turns on the second click", () => {
    const byName = sortBy(NO_FILTERS, "name");
    expect([byName.sort, byName.descending]).toEqual(["name", false]);
    expect(sortBy(byName, "name").descending).toBe(true);
    expect(sortBy(byName, "rate").descending).toBe(true);
    for (const state of [byName, sortBy(byName, "name"), sortBy(byName, "rate")]) expect(round(state)).toEqual(state);
  });
});

it("each filter can be taken back alone, all of them without the order", () => {
  const state = decodeRunList(new URLSearchParams("scenario=ingest&tag=a&tag=b&sort=p95&q=x"));
  expect(activeFilters(state).map(({ name, value }) => `${name} ${value}`)).toEqual([
    "scenario ingest",
    "tag a",
    "tag b",
  ]);
  expect(withoutFilter(state, "tag", "a").tags).toEqual(["b"]);
  expect(withoutFilter(state, "scenario", "ingest").scenario).toBeNull();
  expect(withoutFilters(state)).toEqual({ ...NO_FILTERS, sort: "p95" });
});

it("a period begins on a whole minute, so that equal questions share an answer", () => {
  const now = Date.UTC(2026, 10, 21, 10, 0, 42, 7);
  expect(periodStart("7d", now)).toBe(Date.UTC(2026, 10, 14, 10, 0, 0));
  expect(periodStart(null, now)).toBeNull();
});

it("no more runs are chosen than one comparison takes", () => {
  const ids = Array.from({ length: MOST_COMPARED + 2 }, (_, place) => `run-${place}`);
  const chosen = ids.reduce<readonly string[]>(toggleSelected, []);
  expect(chosen).toEqual(ids.slice(0, MOST_COMPARED));
  expect(toggleSelected(chosen, "run-0")).toEqual(ids.slice(1, MOST_COMPARED));
  expect(comparePath(["a", "b"])).toBe("/runs/compare?run=a&run=b");
});
