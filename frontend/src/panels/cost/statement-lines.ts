/** Lines of the table of statements, out of both documents that speak of them. Pure. */
import type { Cost, CostStatement, RunStatement, RunStatements } from "@/api/runs/types";

const MANY_ROWS = 1000;
const MANY_CALLS = 0.5;
const MUCH_WAITED = 0.1;

export type StatementMark = "rows" | "scan" | "disk" | "lock";

/** A statement: what it took, and who asks it; null is what nobody tells. */
export interface StatementLine {
  readonly id: string;
  readonly text: string;
  readonly share: number;
  readonly calls: number;
  readonly baseCalls: number | null;
  readonly perRequest: number | null;
  readonly basePerRequest: number | null;
  readonly mean: number | null;
  readonly baseMean: number | null;
  /** Seconds a call. */
  readonly lock: number | null;
  /** Rows read for each that is sent. */
  readonly examined: number | null;
  /** Temporary tables on disk, of all calls. */
  readonly disk: number | null;
  /** Share of calls that read without an index. */
  readonly noIndex: number | null;
  readonly routes: readonly string[];
  readonly plan: CostStatement["plan"];
}

/** All statements that are known, by time: those of the table, which knows more of each, else those of the costs. */
export function statementLines(cost: Cost, statements: RunStatements | undefined): readonly StatementLine[] {
  if (statements === undefined || statements.statements.length === 0) return cost.statements.map(ofCost);
  const asked = new Map<string, string[]>();
  for (const one of cost.statements) asked.set(one.line, [...(asked.get(one.line) ?? []), ...one.routes]);
  return statements.statements.map((one) => ofTable(one, [...new Set(asked.get(one.id))]));
}

/** What a statement is marked with. */
export function statementMarks(one: StatementLine): readonly StatementMark[] {
  const marks: StatementMark[] = [];
  if ((one.examined ?? 0) >= MANY_ROWS) marks.push("rows");
  if ((one.noIndex ?? 0) >= MANY_CALLS) marks.push("scan");
  if ((one.disk ?? 0) > 0) marks.push("disk");
  if (one.mean !== null && one.mean > 0 && (one.lock ?? 0) / one.mean >= MUCH_WAITED) marks.push("lock");
  return marks;
}

function ofTable(one: RunStatement, routes: readonly string[]): StatementLine {
  return {
    id: one.id,
    text: one.fingerprint,
    share: one.share,
    calls: one.calls,
    baseCalls: one.base?.calls ?? null,
    perRequest: one.calls_per_request,
    basePerRequest: one.base?.calls_per_request ?? null,
    mean: one.mean_seconds,
    baseMean: one.base?.mean_seconds ?? null,
    lock: each(one.lock_seconds, one.calls),
    examined: one.rows_examined_per_row_sent,
    disk: one.tmp_disk_tables,
    noIndex: each(one.no_index_used, one.calls),
    routes,
    plan: one.plan,
  };
}

function ofCost(one: CostStatement): StatementLine {
  return {
    id: one.id,
    text: one.text || one.id,
    share: one.share,
    calls: one.calls,
    baseCalls: one.base_calls,
    perRequest: null,
    basePerRequest: null,
    mean: one.mean_seconds,
    baseMean: one.base_mean_seconds,
    lock: each(one.lock_seconds, one.calls),
    examined: one.examined_per_sent,
    disk: one.tmp_disk_tables,
    noIndex: each(one.no_index_used, one.calls),
    routes: [...new Set(one.routes)],
    plan: one.plan,
  };
}

function each(total: number | null, calls: number): number | null {
  return total === null || calls <= 0 ? null : total / calls;
}
