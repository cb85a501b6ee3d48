import { expect, it } from "vitest";
import { run } from "@/testing/compare-fixtures";
import { runBands } from "./run-bands";

it("leaves the end of a run under way open, and draws only the start of one that fell silent", () => {
  const bands = runBands(
    [
      run("a", { name: "soak", started_ms: 5, ended_ms: null }),
      run("b", { started_ms: 5, ended_ms: null, silent: true }),
      run("c", { started_ms: 5, ended_ms: 9 }),
    ],
    [],
  );
  expect(bands.map(({ label, startMs, endMs }) => [label, startMs, endMs])).toEqual([
    ["soak", 5, null],
    ["ingest", 5, 5],
    ["ingest", 5, 9],
  ]);
});

it("gives the held bands back for as long as nothing is new, so that charts need not render", () => {
  const held = runBands([run("a")], []);
  expect(runBands([run("a", { rate: 999 })], held)).toBe(held);
  expect(runBands([run("a", { ended_ms: null })], held)).not.toBe(held);
  expect(runBands([], held)).toEqual([]);
});
