/** Endpoints over all groups by one measure: filtered, sorted, with differences to the base. Pure. */
import type { CompareEndpoint } from "@/api/compare/types";
import { relativeChange } from "@/lib/run-text";
import type { Unit } from "@/lib/units";
import type { EndpointSort, Measure } from "./state";

export interface EndpointRow {
  readonly name: string;
  readonly values: readonly (number | null)[];
  /** Against the base; null for the base itself and where either is unknown or the base is 0. */
  readonly deltas: readonly (number | null)[];
}

const UNITS: Readonly<Record<string, Unit>> = {
  rate: "per_second",
  failures: "ratio",
  requests: "count",
  share: "ratio",
};

/** A measure that is none of the counts and rates is a percentile. */
export const measureUnit = (measure: Measure): Unit => UNITS[measure] ?? "seconds";

const READ: Readonly<Record<string, (endpoint: CompareEndpoint) => readonly (number | null)[]>> = {
  p95: (endpoint) => endpoint.p95_seconds,
  rate: (endpoint) => endpoint.rate,
  failures: (endpoint) => endpoint.failure_ratio,
  requests: (endpoint) => endpoint.requests,
  share: (endpoint) => endpoint.share,
};

export function endpointRows(endpoints: readonly CompareEndpoint[], measure: Measure, words: string): EndpointRow[] {
  const wanted = words.trim().toLowerCase();
  return endpoints
    .filter(({ name }) => name.toLowerCase().includes(wanted))
    .map((endpoint) => {
      const values = READ[measure]?.(endpoint) ?? endpoint.percentiles?.[measure] ?? endpoint.requests.map(() => null);
      return {
        name: endpoint.name,
        values,
        deltas: values.map((value, place) => (place === 0 ? null : relativeChange(value, values[0]))),
      };
    });
}

/** Unknown values come last in either direction. */
export function sortEndpoints(rows: readonly EndpointRow[], sort: EndpointSort): EndpointRow[] {
  const sign = sort.descending ? -1 : 1;
  const { column, delta } = sort;
  if (column === "name") return [...rows].sort((a, b) => sign * (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const read = (row: EndpointRow) => (delta ? row.deltas : row.values)[column] ?? null;
  return [...rows].sort((a, b) => {
    const [left, right] = [read(a), read(b)];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    return sign * (left - right);
  });
}
