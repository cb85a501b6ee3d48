import { expect, it } from "vitest";
import { endpointRows, sortEndpoints } from "./endpoint-rows";

const endpoint = (name: string, p95: (number | null)[]) => ({
  ...{ name, requests: p95.map(() => 10), rate: p95.map(() => 1), failure_ratio: p95.map(() => 0) },
  share: p95.map(() => 0.5),
  p95_seconds: p95,
  percentiles: { p70: p95.map((value) => (value === null ? null : value / 2)) },
});
const endpoints = [endpoint("GET /a", [0.1, 0.2]), endpoint("GET /b", [0.4, 0.3]), endpoint("POST /new", [null, 0.9])];
const names = (rows: readonly { readonly name: string }[]) => rows.map(({ name }) => name);

it("finds endpoints by any part of their name and knows the difference to the base", () => {
  const [a, b] = endpointRows(endpoints, "p95", "get ");
  expect(a).toEqual({ name: "GET /a", values: [0.1, 0.2], deltas: [null, 1] });
  expect(b?.deltas[1]).toBeCloseTo(-0.25);
  expect(endpointRows(endpoints, "failures", "new")[0]?.deltas).toEqual([null, null]);
  expect(endpointRows(endpoints, "p70", "/a")[0]?.values).toEqual([0.05, 0.1]);
  const mix = endpoints.map((one, place) => ({ ...one, share: [0.5, place === 0 ? 0.1 : 0.45] }));
  expect(endpointRows(mix, "share", "/a")[0]?.values).toEqual([0.5, 0.1]);
  expect(endpointRows(endpoints, "p80", "/a")[0]?.values).toEqual([null, null]);
});

it("sorts by name, value or difference, unknown values last both ways", () => {
  const rows = endpointRows(endpoints, "p95", "");
  expect(names(sortEndpoints(rows, { column: 0, delta: false, descending: true }))).toEqual([
    "GET /b",
    "GET /a",
    "POST /new",
  ]);
  expect(names(sortEndpoints(rows, { column: 1, delta: true, descending: false }))).toEqual([
    "GET /b",
    "GET /a",
    "POST /new",
  ]);
  expect(names(sortEndpoints(rows, { column: "name", delta: false, descending: true }))[0]).toBe("POST /new");
});
