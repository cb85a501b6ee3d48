/** Sorting and filtering of a run's endpoints. Pure. */

import { failures } from "@/lib/run-text";
import type { Percentile } from "@/lib/series/percentiles";

interface Endpoint {
  readonly name: string;
  readonly requests: number;
  readonly rate: number | null;
  readonly success_ratio: number | null;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly latency_seconds: Readonly<Record<"mean" | "p50" | "p95" | "p99" | "max", number | null>>;
  /** Seconds of those that the page adds. */
  readonly percentiles?: Readonly<Record<string, number | null>>;
}

export const ENDPOINT_FIELDS = [
  "name",
  "requests",
  "rate",
  "success",
  "failures",
  "mean",
  "p50",
  "p95",
  "p99",
  "max",
  "total",
] as const;
/** A percentile may be any that the page adds. */
export type EndpointField = (typeof ENDPOINT_FIELDS)[number] | Percentile;

export interface EndpointSort {
  readonly field: EndpointField;
  readonly descending: boolean;
}

/** Where most of the waiting happened is where to look first. */
export const DEFAULT_ENDPOINT_SORT: EndpointSort = { field: "total", descending: true };

export function endpointValue(endpoint: Endpoint, field: EndpointField): string | number | null {
  switch (field) {
    case "name":
      return endpoint.name;
    case "requests":
      return endpoint.requests;
    case "rate":
      return endpoint.rate;
    case "success":
      return endpoint.success_ratio;
    case "failures":
      return failures(endpoint.outcomes);
    case "total": {
      const { mean } = endpoint.latency_seconds;
      return mean === null ? null : mean * endpoint.requests;
    }
    case "mean":
    case "p50":
    case "p95":
    case "p99":
    case "max":
      return endpoint.latency_seconds[field];
    default:
      return endpoint.percentiles?.[field] ?? null;
  }
}

export function filterEndpoints<T extends Endpoint>(endpoints: readonly T[], text: string): readonly T[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return endpoints;
  return endpoints.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
}

/** Endpoints without a value stand last in either direction. */
export function sortEndpoints<T extends Endpoint>(endpoints: readonly T[], sort: EndpointSort): readonly T[] {
  const sign = sort.descending ? -1 : 1;
  return endpoints
    .map((endpoint) => ({ endpoint, value: endpointValue(endpoint, sort.field) }))
    .sort((a, b) => {
      if (a.value === null || b.value === null) return Number(a.value === null) - Number(b.value === null);
      const order = typeof a.value === "string" ? compareText(a.value, String(b.value)) : a.value - Number(b.value);
      return sign * order || compareText(a.endpoint.name, b.endpoint.name);
    })
    .map(({ endpoint }) => endpoint);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
