/** The columns of the list of runs, and which of them an address asks for. Pure. */
import type { RunSort } from "@/api/runs/types";

export interface Column {
  readonly id:
    | "verdict"
    | "name"
    | "scenario"
    | "limit"
    | "parameters"
    | "started"
    | "rate"
    | "success"
    | "p95"
    | "load"
    | "commit"
    | "tags";
  readonly sort?: RunSort;
  readonly number?: boolean;
  /** Stands there unless something else is asked for. */
  readonly usual?: boolean;
}

export type ColumnId = Column["id"];

export const COLUMNS: readonly Column[] = [
  { id: "verdict", sort: "verdict", usual: true },
  { id: "name", sort: "name", usual: true },
  { id: "scenario", sort: "scenario" },
  { id: "limit", usual: true },
  { id: "parameters", usual: true },
  { id: "started", sort: "started", usual: true },
  { id: "rate", sort: "rate", number: true, usual: true },
  { id: "success", sort: "success_ratio", number: true, usual: true },
  { id: "p95", sort: "p95", number: true, usual: true },
  { id: "load" },
  { id: "commit", usual: true },
  { id: "tags" },
];

/** What a line is found and opened by. */
export const ALWAYS: readonly ColumnId[] = ["verdict", "name"];
export const USUAL: readonly string[] = COLUMNS.filter(({ usual }) => usual).map(({ id }) => id);

/** Before the name of a parameter that has a column of its own. */
const PARAMETER = "param.";
export const parameterColumn = (name: string) => PARAMETER + name;

/** Those that are known, each once; the usual ones where none is asked for. */
export function decodeColumns(asked: readonly string[]): readonly string[] {
  const known = asked.filter((one) => one.startsWith(PARAMETER) || COLUMNS.some(({ id }) => id === one));
  return known.length === 0 ? USUAL : [...new Set([...ALWAYS, ...known])];
}

/** What the address holds; nothing for the usual ones. */
export function encodeColumns(columns: readonly string[]): readonly string[] {
  const same = columns.length === USUAL.length && USUAL.every((id) => columns.includes(id));
  return same ? [] : columns;
}

export type Shown = { readonly column: Column } | { readonly parameter: string };

/** The columns from left to right, whatever the order in which they were chosen; parameters stand behind their place. */
export function shownColumns(columns: readonly string[]): readonly Shown[] {
  const parameters = columns
    .filter((one) => one.startsWith(PARAMETER))
    .map((one) => ({ parameter: one.slice(PARAMETER.length) }));
  return COLUMNS.flatMap((column): readonly Shown[] => [
    ...(columns.includes(column.id) ? [{ column }] : []),
    ...(column.id === "parameters" ? parameters : []),
  ]);
}

export function toggleColumn(columns: readonly string[], id: string): readonly string[] {
  return columns.includes(id) ? columns.filter((one) => one !== id) : [...columns, id];
}
