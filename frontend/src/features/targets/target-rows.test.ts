import { expect, it } from "vitest";
import { DEFAULT_SORT, filterRows, sortRows, targetRows } from "./target-rows";

const collector = (name: string, up: boolean | null, lag: number | null, error: string | null = null) => ({
  ...{ collector: name, up, lag_seconds: lag, error },
  ...{ last_sample_ms: null, duration_seconds: null, cpu_ratio: null, agents: [], samples: null },
});
const rows = targetRows([
  { job: "app", instance: "a:1", collectors: [collector("dbstats", true, 0.4), collector("process", null, null)] },
  { job: "mysql", instance: "db:3306", collectors: [collector("mysql", false, 90, "Access denied for user")] },
]);

it("what needs attention comes first", () => {
  expect(sortRows(rows, DEFAULT_SORT).map((row) => row.collector)).toEqual(["mysql", "process", "dbstats"]);
});

it("rows without a value stand last in either direction", () => {
  for (const descending of [false, true]) {
    expect(sortRows(rows, { field: "lag", descending }).at(-1)?.collector).toBe("process");
  }
});

it("every word must be found somewhere in the row", () => {
  expect(filterRows(rows, "db:3306 denied", null).map((row) => row.collector)).toEqual(["mysql"]);
  expect(filterRows(rows, "app", "up").map((row) => row.collector)).toEqual(["dbstats"]);
  expect(filterRows(rows, "nothing", null)).toEqual([]);
});
