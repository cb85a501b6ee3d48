/** What the address of the runs list holds. Pure codec; parameters of others stay as they are. */

import { decodeColumns, encodeColumns, USUAL } from "./columns";
import { OLD_FILTERS, textOfOld } from "./filter-text";

export const RUN_SORTS = [
  "started",
  "name",
  "scenario",
  "tool",
  "rate",
  "success_ratio",
  "p95",
  "requests",
  "verdict",
] as const;

export interface RunListState {
  /** The filter as text; features/runs/list/filter-text.ts. */
  readonly where: string;
  readonly sort: (typeof RUN_SORTS)[number];
  readonly descending: boolean;
  /** Ids of features/runs/list/columns.ts. */
  readonly columns: readonly string[];
}

export const NO_FILTERS: RunListState = { where: "", sort: "started", descending: true, columns: USUAL };

const OWN = [...OLD_FILTERS, "where", "sort", "order", "column"] as const;

/** Reads the state; what is unknown counts as not said. Filters of older addresses become text. */
export function decodeRunList(params: URLSearchParams): RunListState {
  const sort = RUN_SORTS.find((one) => one === params.get("sort")) ?? NO_FILTERS.sort;
  const order = params.get("order");
  return {
    where: [textOfOld(params), params.get("where") ?? ""].filter(Boolean).join(" "),
    sort,
    descending: order === null ? descendsFirst(sort) : order !== "asc",
    columns: decodeColumns(params.getAll("column")),
  };
}

/** Writes the state over the parameters that were there; defaults are left out. */
export function encodeRunList(state: RunListState, previous: URLSearchParams): URLSearchParams {
  const params = new URLSearchParams(previous);
  for (const name of OWN) params.delete(name);
  if (state.where.trim() !== "") params.set("where", state.where.trim());
  if (state.sort !== NO_FILTERS.sort) params.set("sort", state.sort);
  if (state.descending !== descendsFirst(state.sort)) params.set("order", state.descending ? "desc" : "asc");
  for (const column of encodeColumns(state.columns)) params.append("column", column);
  return params;
}

/** Names sort from A, figures and times from the greatest. */
function descendsFirst(sort: RunListState["sort"]): boolean {
  return sort !== "name" && sort !== "scenario" && sort !== "tool";
}

/** The state after a click on a column's head. */
export function sortBy(state: RunListState, sort: RunListState["sort"]): RunListState {
  return { ...state, sort, descending: state.sort === sort ? !state.descending : descendsFirst(sort) };
}

/** Runs that one comparison takes. */
export const MOST_COMPARED = 8;

/** The selection after a click on one run; the ninth is not taken. */
export function toggleSelected(selected: readonly string[], id: string): readonly string[] {
  if (selected.includes(id)) return selected.filter((one) => one !== id);
  return selected.length < MOST_COMPARED ? [...selected, id] : selected;
}

export function comparePath(ids: readonly string[]): string {
  return `/runs/compare?${new URLSearchParams(ids.map((id) => ["run", id]))}`;
}
