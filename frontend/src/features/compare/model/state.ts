/** What the address of a comparison holds. Pure codec; parameters of others stay as they are. */
import type { Align } from "@/api/compare/types";
import { decodePercentiles, encodePercentiles, type Percentile } from "@/lib/series/percentiles";

export const MOST_RUNS = 8;
export const LEAST_RUNS = 2;

export const MEASURES = ["p95", "rate", "failures", "requests", "share"] as const;
/** A percentile may be any of those that the address adds. */
export type Measure = (typeof MEASURES)[number] | Percentile;

export interface EndpointSort {
  /** `name`, or the place of a group. */
  readonly column: "name" | number;
  /** By the difference to the base in place of the value. */
  readonly delta: boolean;
  readonly descending: boolean;
}

export interface CompareState {
  /** In the order chosen; the first one's group is the base. */
  readonly runs: readonly string[];
  readonly align: Align;
  /** Runs that the charts leave out. */
  readonly hidden: readonly string[];
  /** Span of elapsed seconds that the charts show; null for all. */
  readonly zoom: { readonly from: number; readonly to: number } | null;
  /** Whether the table shows p-values and single runs. */
  readonly detail: boolean;
  /** Whether the table leaves out what is equal or unknown. */
  readonly changedOnly: boolean;
  /** Besides those that every run keeps. */
  readonly percentiles: readonly Percentile[];
  readonly measure: Measure;
  readonly sort: EndpointSort;
}

const RUN = /^[a-z0-9][a-z0-9-]{2,39}$/;
const OWN = ["run", "align", "hide", "zoom", "detail", "changed", "measure", "sort"] as const;
export const DEFAULT_SORT: EndpointSort = { column: 0, delta: false, descending: true };

export function decodeCompare(params: URLSearchParams): CompareState {
  const runs = [...new Set(params.getAll("run").filter((run) => RUN.test(run)))].slice(0, MOST_RUNS);
  const percentiles = decodePercentiles(params);
  return {
    runs,
    align: params.get("align") === "steady" ? "steady" : "start",
    hidden: params.getAll("hide").filter((run) => runs.includes(run)),
    zoom: decodeZoom(params.get("zoom")),
    detail: params.get("detail") === "1",
    changedOnly: params.get("changed") === "1",
    percentiles,
    measure: [...MEASURES, ...percentiles].find((measure) => measure === params.get("measure")) ?? "p95",
    sort: decodeSort(params.get("sort")),
  };
}

function decodeZoom(text: string | null): CompareState["zoom"] {
  const match = /^(-?\d+(?:\.\d+)?)_(-?\d+(?:\.\d+)?)$/.exec(text ?? "");
  if (match === null) return null;
  const from = Number(match[1]);
  const to = Number(match[2]);
  return to > from ? { from, to } : null;
}

/** `name`, `-0`, `1`, `-d2`: a minus for the greatest first, a d for the difference. */
function decodeSort(text: string | null): EndpointSort {
  const match = /^(-?)(?:(name)|(d?)(\d))$/.exec(text ?? "");
  if (match === null) return DEFAULT_SORT;
  const [, minus, name, delta, place] = match;
  return {
    column: name !== undefined ? "name" : Number(place),
    delta: delta === "d",
    descending: minus === "-",
  };
}

function encodeSort({ column, delta, descending }: EndpointSort): string {
  return `${descending ? "-" : ""}${delta ? "d" : ""}${column}`;
}

export function encodeCompare(state: CompareState, previous: URLSearchParams): URLSearchParams {
  const params = encodePercentiles(state.percentiles, previous);
  for (const name of OWN) params.delete(name);
  for (const run of state.runs) params.append("run", run);
  if (state.align !== "start") params.set("align", state.align);
  for (const run of state.hidden) if (state.runs.includes(run)) params.append("hide", run);
  if (state.zoom !== null) params.set("zoom", `${state.zoom.from}_${state.zoom.to}`);
  if (state.detail) params.set("detail", "1");
  if (state.changedOnly) params.set("changed", "1");
  const known: readonly string[] = [...MEASURES, ...state.percentiles];
  if (state.measure !== "p95" && known.includes(state.measure)) params.set("measure", state.measure);
  const sort = encodeSort(state.sort);
  if (sort !== encodeSort(DEFAULT_SORT)) params.set("sort", sort);
  return params;
}

/** These runs first, in their order, so that their group becomes the base. */
export function withBase(runs: readonly string[], base: readonly string[]): readonly string[] {
  return [...base.filter((run) => runs.includes(run)), ...runs.filter((run) => !base.includes(run))];
}
