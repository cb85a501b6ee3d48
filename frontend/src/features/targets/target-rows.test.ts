import { expect, it } from "vitest";
import { DEFAULT_SORT, filterRows, sortRows, targetRows } from "./target-rows";

const collector = (name: string, up: boolean | null, lag: number | null, error: string | null = null) => ({
  ...{ collector: name, up, lag_seconds: lag, error },
  ...{ last_sample_ms: null, duration_seconds: null, cpu_ratio: null, agents: [], samples: null },
});
const target = (job: string, instance: string, collectors: ReturnType<typeof collector>[], gone = false) => ({
  ...{ job, instance, collectors, sent_ms: null, gone, kept_by: null },
});
const rows = targetRows([
  target("app", "a:1", [collector("dbstats", true, 0.4), collector("process", null, null)]),
  target("mysql", "db:3306", [collector("mysql", false, 90, "Access denied for user")]),
  target("old", "b:1", [collector("host", null, 90_000)], true),
]);

it("what needs attention comes first", () => {
  expect(sortRows(rows, DEFAULT_SORT).map((row) => row.collector)).toEqual(["mysql", "process", "dbstats", "host"]);
});

it("rows without a value stand last in either direction", () => {
  for (const descending of [false, true]) {
    expect(sortRows(rows, { field: "lag", descending }).at(-1)?.collector).toBe("process");
  }
});

it("every word must be found somewhere in the row", () => {
  expect(filterRows(rows, "db:3306 denied", null).map((row) => row.collector)).toEqual(["mysql"]);
  expect(filterRows(rows, "app", "up").map((row) => row.collector)).toEqual(["dbstats"]);
  expect(filterRows(rows, "", "gone").map((row) => row.job)).toEqual(["old"]);
  expect(filterRows(rows, "nothing", null)).toEqual([]);
});
