import { expect, it } from "vitest";
import type { Cost, RunStatements } from "@/api/runs/types";
import { type StatementLine, statementLines, statementMarks } from "./statement-lines";

const counted = {
  id: "shop:d1",
  line: "l1",
  text: "SELECT ?",
  calls: 10,
  seconds: 1,
  mean_seconds: 0.1,
  share: 0.5,
  lock_seconds: 0.2,
  examined_per_sent: 2,
  tmp_disk_tables: null,
  no_index_used: 5,
  routes: ["GET /a", "GET /a"],
  base_calls: null,
  base_mean_seconds: null,
  plan: null,
};
const cost = { statements: [counted, { ...counted, id: "shop:p1", routes: ["GET /b"] }] } as unknown as Cost;
const told = {
  id: "l1",
  fingerprint: "select ?",
  calls: 20,
  mean_seconds: 0.1,
  share: 1,
  calls_per_request: 2,
  lock_seconds: null,
  rows_examined_per_row_sent: 3,
  tmp_disk_tables: 4,
  no_index_used: 20,
  base: { calls: 10, calls_per_request: 1, mean_seconds: 0.05 },
  plan: null,
};
const statements = { statements: [told, { ...told, id: "l2", base: null }] } as unknown as RunStatements;

it("takes what a statement took from its table, and who asks it from the costs", () => {
  const [first, second] = statementLines(cost, statements);
  expect(first).toMatchObject({ text: "select ?", perRequest: 2, basePerRequest: 1, disk: 4, noIndex: 1, lock: null });
  expect(first?.routes).toEqual(["GET /a", "GET /b"]);
  expect(second).toMatchObject({ routes: [], baseCalls: null });
});

it("does with the costs alone", () => {
  for (const without of [undefined, { statements: [] } as unknown as RunStatements]) {
    const [first] = statementLines(cost, without);
    expect(first).toMatchObject({ id: "shop:d1", perRequest: null, noIndex: 0.5, routes: ["GET /a"] });
    expect(first?.lock).toBeCloseTo(0.02);
  }
});

it("marks statements by what they do", () => {
  const one = { mean: 0.1, examined: 1000, noIndex: 1, disk: 1, lock: 0.02 };
  expect(statementMarks(one as StatementLine)).toEqual(["rows", "scan", "disk", "lock"]);
  const clean = { mean: 0.1, examined: null, noIndex: null, disk: 0, lock: 0 };
  expect(statementMarks(clean as StatementLine)).toEqual([]);
});
