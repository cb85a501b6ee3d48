import { expect, it } from "vitest";
import { DEFAULT_ENDPOINT_SORT, filterEndpoints, sortEndpoints } from "./endpoints";

const endpoint = (name: string, requests: number, mean: number | null) => ({
  ...{ name, requests, rate: requests / 10, success_ratio: 1, outcomes: { ok: requests } },
  latency_seconds: { mean, p50: mean, p95: mean, p99: mean, max: mean },
});
const endpoints = [endpoint("GET /a", 100, 0.01), endpoint("POST /profile", 10, 5), endpoint("GET /b", 5, null)];
const names = (rows: readonly { name: string }[]) => rows.map(({ name }) => name);

it("endpoints stand by the time spent in them; those without a value last in either direction", () => {
  expect(names(sortEndpoints(endpoints, DEFAULT_ENDPOINT_SORT))).toEqual(["POST /profile", "GET /a", "GET /b"]);
  expect(names(sortEndpoints(endpoints, { field: "mean", descending: false })).at(-1)).toBe("GET /b");
  expect(names(sortEndpoints(endpoints, { field: "name", descending: false }))).toEqual([
    "GET /a",
    "GET /b",
    "POST /profile",
  ]);
});

it("every word must be in the endpoint's name", () => {
  expect(names(filterEndpoints(endpoints, "get B"))).toEqual(["GET /b"]);
  expect(filterEndpoints(endpoints, "  ")).toBe(endpoints);
});
