/** What the address of the runs list holds. Pure codec; parameters of others stay as they are. */

import { FACTS } from "@/api/runs/facts.gen";
import type { FilterFact } from "@/api/runs/types";
import { DAY } from "@/lib/time/time";

export const RUN_STATES = ["running", "finished", "aborted", "imported"] as const;
export const VERDICTS = ["passed", "failed", "invalid"] as const;
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
export const PERIODS = ["1d", "7d", "30d", "90d"] as const;

export type Period = (typeof PERIODS)[number];

export interface RunListState extends Readonly<Record<FilterFact, string | null>> {
  readonly q: string;
  readonly state: (typeof RUN_STATES)[number] | null;
  readonly verdict: (typeof VERDICTS)[number] | null;
  readonly tags: readonly string[];
  readonly commit: string | null;
  readonly period: Period | null;
  readonly sort: (typeof RUN_SORTS)[number];
  readonly descending: boolean;
}

/** Facts that runs of a list can have alike. */
export const FILTER_FACTS = FACTS.filter((fact) => fact.kind === "text").filter((fact) => fact.facet !== "");
const TEXTS = [...FILTER_FACTS.map(({ name }) => name), "commit"] as const;
type Text = (typeof TEXTS)[number];
const FILTERS = [...TEXTS, "state", "verdict", "period"] as const;

const textsOf = (read: (name: Text) => string | null) =>
  Object.fromEntries(TEXTS.map((name) => [name, read(name)])) as Readonly<Record<Text, string | null>>;

export const NO_FILTERS: RunListState = {
  ...textsOf(() => null),
  q: "",
  state: null,
  verdict: null,
  tags: [],
  period: null,
  sort: "started",
  descending: true,
};

const OWN = [...FILTERS, "q", "tag", "sort", "order"] as const;

/** Reads the state; what is unknown counts as not said. */
export function decodeRunList(params: URLSearchParams): RunListState {
  const sort = oneOf(RUN_SORTS, params.get("sort")) ?? NO_FILTERS.sort;
  const order = params.get("order");
  return {
    ...textsOf((name) => params.get(name) || null),
    q: params.get("q") ?? "",
    state: oneOf(RUN_STATES, params.get("state")),
    verdict: oneOf(VERDICTS, params.get("verdict")),
    tags: [...new Set(params.getAll("tag").filter(Boolean))],
    period: oneOf(PERIODS, params.get("period")),
    sort,
    descending: order === null ? descendsFirst(sort) : order !== "asc",
  };
}

/** Writes the state over the parameters that were there; defaults are left out. */
export function encodeRunList(state: RunListState, previous: URLSearchParams): URLSearchParams {
  const params = new URLSearchParams(previous);
  for (const name of OWN) params.delete(name);
  if (state.q !== "") params.set("q", state.q);
  for (const name of FILTERS) {
    const value = state[name];
    if (value !== null && value !== "") params.set(name, value);
  }
  for (const tag of state.tags) params.append("tag", tag);
  if (state.sort !== NO_FILTERS.sort) params.set("sort", state.sort);
  if (state.descending !== descendsFirst(state.sort)) params.set("order", state.descending ? "desc" : "asc");
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

export type Filter = (typeof FILTERS)[number];

/** Filters that are set, one entry per value, for showing and taking back each. */
export function activeFilters(
  state: RunListState,
): readonly { readonly name: Filter | "tag"; readonly value: string }[] {
  return [
    ...FILTERS.flatMap((name) => {
      const value = state[name];
      return value === null ? [] : [{ name, value }];
    }),
    ...state.tags.map((value) => ({ name: "tag" as const, value })),
  ];
}

export function withoutFilter(state: RunListState, name: Filter | "tag", value: string): RunListState {
  return name === "tag" ? { ...state, tags: state.tags.filter((tag) => tag !== value) } : { ...state, [name]: null };
}

/** Sort and order stay: they hide nothing. */
export function withoutFilters(state: RunListState): RunListState {
  return { ...NO_FILTERS, sort: state.sort, descending: state.descending };
}

/** Start of a period that ends now, to whole minutes so that equal questions share an answer; null for all time. */
export function periodStart(period: Period | null, nowMs: number): number | null {
  if (period === null) return null;
  return Math.floor((nowMs - Number.parseInt(period, 10) * DAY) / 60_000) * 60_000;
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

function oneOf<T extends string>(known: readonly T[], text: string | null): T | null {
  return known.find((one) => one === text) ?? null;
}
