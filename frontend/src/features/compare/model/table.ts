/** The table of signals: which rows it shows, in which parts, and as CSV. Pure. */
import type { CompareCell, CompareGroup, CompareRow, Comparison } from "@/api/compare/types";
import { csvCell } from "@/charts/export/csv";

export interface TableParts {
  readonly load: readonly CompareRow[];
  readonly signals: readonly CompareRow[];
  /** Uses of resources that came near no limit, or of which nobody knows it. */
  readonly unjudged: readonly CompareRow[];
  /** Titles of what no run has a value of. */
  readonly unknown: readonly string[];
  /** How many rows `changedOnly` leaves out. */
  readonly equal: number;
}

const isSignal = ({ metric }: CompareRow) => metric.id.startsWith("signal:");

export function tableParts(rows: readonly CompareRow[], changedOnly: boolean): TableParts {
  const known = rows.filter(({ cells }) => cells.some(({ value }) => value !== null));
  const judged = known.filter((row) => !isUnjudged(row));
  const told = changedOnly ? judged.filter(({ cells }) => cells.some(differs)) : judged;
  return {
    load: told.filter((row) => !isSignal(row)),
    signals: told.filter(isSignal),
    unjudged: known.filter(isUnjudged),
    unknown: rows.filter((row) => !known.includes(row)).map(({ metric }) => metric.title),
    equal: judged.length - told.length,
  };
}

const UNJUDGED: ReadonlySet<string> = new Set(["far-from-limit", "limit-unknown"]);

/** Whether no group's figure is judged; of one that is, all stand in the table. */
function isUnjudged({ cells }: CompareRow): boolean {
  const told = cells.slice(1).filter(({ value }) => value !== null);
  return told.length > 0 && told.every(({ remark }) => UNJUDGED.has(remark));
}

function differs(cell: CompareCell, place: number): boolean {
  return (
    place > 0 &&
    (cell.opinion === "better" || cell.opinion === "worse" || (cell.opinion === "neutral" && cell.delta !== null))
  );
}

const LEAST_REACH = 0.05;
const MOST_REACH = 1;

/** The difference at the edge of a row's bars: the greatest of its intervals, so that bars of one row compare. */
export function rowReach({ cells }: CompareRow): number {
  const sizes = cells.flatMap(({ delta, delta_low, delta_high }) =>
    [delta, delta_low, delta_high].map((value) => Math.abs(value ?? 0)),
  );
  return Math.min(MOST_REACH, Math.max(LEAST_REACH, ...sizes));
}

export type Summary = Readonly<Record<"better" | "worse" | "same" | "unclear" | "neutral", number>>;

/** How many figures of a group are better, worse and so on than the base's. */
export function countOpinions(rows: readonly CompareRow[], group: number): Summary {
  const counts = { better: 0, worse: 0, same: 0, unclear: 0, neutral: 0 };
  for (const { cells } of rows) {
    const cell = cells[group];
    if (cell !== undefined && cell.value !== null) counts[cell.opinion] += 1;
  }
  return counts;
}

/** A remark that all figures of a group share, such as too few repeats; it is said once. Empty when there is none. */
export function commonRemark(rows: readonly CompareRow[], group: number): string {
  const remarks = rows.map(({ cells }) => cells[group]).filter((cell) => cell !== undefined && cell.value !== null);
  const told = remarks.map((cell) => cell?.remark ?? "").filter((remark) => REPEATS.has(remark));
  const [first = ""] = told;
  return told.every((remark) => remark === first) ? first : "";
}

const REPEATS: ReadonlySet<string> = new Set(["single-run", "few-repeats"]);

const HEAD = [
  ...["metric", "title", "unit", "group", "runs", "is_base", "value", "low", "high", "spread"],
  ...["delta", "delta_low", "delta_high", "p_value", "opinion", "grade", "remark", "per_run"],
];

/** A line for each metric and group, in base units; RFC 4180. */
export function comparisonCsv({ rows, groups }: Pick<Comparison, "rows" | "groups">): string {
  const lines = rows.flatMap((row) => row.cells.map((cell, place) => csvLine(row, cell, groups[place])));
  return `${[HEAD.join(","), ...lines].join("\r\n")}\r\n`;
}

function csvLine({ metric }: CompareRow, cell: CompareCell, group: CompareGroup | undefined): string {
  const number = (value: number | null) => (value === null ? "" : String(value));
  const base = group?.is_base === true;
  return [
    ...[metric.id, metric.title, metric.unit, group?.label ?? "", (group?.runs ?? []).join(" ")].map(csvCell),
    String(base),
    ...[cell.value, cell.low, cell.high, cell.spread].map(number),
    ...[cell.delta, cell.delta_low, cell.delta_high, cell.p_value].map(number),
    base ? "" : cell.opinion,
    cell.grade ?? "",
    cell.remark,
    cell.per_run.map(number).join(" "),
  ].join(",");
}
