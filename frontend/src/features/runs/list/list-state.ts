/** What the address of the runs list holds. Pure codec; parameters of others stay as they are. */

import { decodeColumns, encodeColumns, USUAL } from "./columns";
import { decodeFilters, encodeFilters, type RunFilters } from "./filters";

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
  readonly filters: RunFilters;
  readonly sort: (typeof RUN_SORTS)[number];
  readonly descending: boolean;
  /** Ids of features/runs/list/columns.ts. */
  readonly columns: readonly string[];
}

export const NO_FILTERS: RunFilters = { q: "", values: {}, ignored: [] };
export const USUAL_LIST: RunListState = { filters: NO_FILTERS, sort: "started", descending: true, columns: USUAL };

/** Reads the state; what is unknown counts as not said. */
export function decodeRunList(params: URLSearchParams): RunListState {
  const sort = RUN_SORTS.find((one) => one === params.get("sort")) ?? USUAL_LIST.sort;
  const order = params.get("order");
  return {
    filters: decodeFilters(params),
    sort,
    descending: order === null ? descendsFirst(sort) : order !== "asc",
    columns: decodeColumns(params.getAll("column")),
  };
}

/** Writes the state over the parameters that were there; defaults are left out. */
export function encodeRunList(state: RunListState, previous: URLSearchParams): URLSearchParams {
  const params = new URLSearchParams(previous);
  for (const name of ["sort", "order", "column"]) params.delete(name);
  encodeFilters(state.filters, params);
  if (state.sort !== USUAL_LIST.sort) params.set("sort", state.sort);
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
