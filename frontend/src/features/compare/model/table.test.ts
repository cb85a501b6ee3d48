import { expect, it } from "vitest";
import { cell, group, row } from "@/testing/compare-fixtures";
import { commonRemark, comparisonCsv, countOpinions, rowReach, tableParts } from "./table";

const worse = cell({
  delta: 0.2,
  delta_low: 0.1,
  delta_high: 0.4,
  opinion: "worse",
  grade: "clear",
  p_value: 0.01,
  remark: "few-repeats",
});
const same = cell({ delta: 0.01, opinion: "same", remark: "few-repeats" });
const none = cell({ value: null, opinion: "unclear", remark: "no-data" });
const rows = [
  row("p95", [cell(), worse]),
  row("p50", [cell(), same]),
  row("signal:waits", [cell(), worse]),
  row("signal:lag", [none, none]),
];

it("parts results from signals, names what nobody has, and counts what it leaves out", () => {
  const all = tableParts(rows, false);
  expect(all.load.map(({ metric }) => metric.id)).toEqual(["p95", "p50"]);
  expect(all.signals.map(({ metric }) => metric.id)).toEqual(["signal:waits"]);
  expect(all.unknown).toEqual(["SIGNAL:LAG"]);
  const changed = tableParts(rows, true);
  expect(changed.load.map(({ metric }) => metric.id)).toEqual(["p95"]);
  expect(changed.equal).toBe(1);
});

it("puts uses of resources apart that no group is judged by, whichever differ", () => {
  const far = cell({ delta: 0.5, remark: "far-from-limit" });
  const pool = row("signal:pool", [cell(), far, cell({ remark: "limit-unknown" })]);
  const near = row("signal:fds", [cell(), far, worse]);
  for (const changed of [false, true]) {
    const parts = tableParts([...rows, pool, near], changed);
    expect(parts.unjudged.map(({ metric }) => metric.id)).toEqual(["signal:pool"]);
    expect(parts.signals.map(({ metric }) => metric.id)).toEqual(["signal:waits", "signal:fds"]);
  }
});

it("scales the bars of a row to its widest interval, within bounds", () => {
  expect(rowReach(row("a", [cell(), worse]))).toBe(0.4);
  expect(rowReach(row("a", [cell(), cell({ delta: 0.001 })]))).toBe(0.05);
  expect(rowReach(row("a", [cell(), cell({ delta: 12 })]))).toBe(1);
});

it("counts opinions of figures that have a value", () => {
  expect(countOpinions(rows, 1)).toEqual({ better: 0, worse: 2, same: 1, unclear: 0, neutral: 0 });
});

it("says once that repeats are too few when that holds for every figure", () => {
  expect(commonRemark(rows, 1)).toBe("few-repeats");
  expect(commonRemark([...rows, row("p99", [cell(), cell({ remark: "single-run" })])], 1)).toBe("");
  expect(commonRemark(rows, 0)).toBe("");
});

it("writes a line for each metric and group, in base units, with formulas disarmed", () => {
  const groups = [group("a", ["a"], true), { ...group("b", ["b", "c"]), label: "=1+1" }];
  const csv = comparisonCsv({ rows: rows.slice(0, 1), groups });
  const [head, base, other, end] = csv.split("\r\n");
  expect(head?.split(",")).toHaveLength(18);
  expect(base).toBe("p95,P95,seconds,group a,a,true,1,0.9,1.1,,,,,,,,,1");
  expect(other).toBe("p95,P95,seconds,'=1+1,b c,false,1,0.9,1.1,,0.2,0.1,0.4,0.01,worse,clear,few-repeats,1");
  expect(end).toBe("");
});
