import { expect, it } from "vitest";
import { changeGroups, filterSettings, settingRows, settingText } from "@/features/runs/model/changes";
import { DEFAULT_ENDPOINT_SORT, filterEndpoints, sortEndpoints } from "@/features/runs/model/endpoints";

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

it("what was set on purpose leads, what matters little is on demand", () => {
  const change = (deliberate: boolean, important: boolean) => ({ deliberate, important });
  const groups = changeGroups([change(false, false), change(false, true), change(true, false), change(true, true)]);
  expect([groups.deliberate.length, groups.drift.length, groups.rest.length]).toEqual([2, 1, 1]);
});

it("settings are one row with their value before and after", () => {
  const setting = (key: string, value: string) => ({ target: "mysql db:3306", section: "pool", key, value, unit: "" });
  const rows = settingRows(
    [setting("max_connections", "151"), setting("gone", "1")],
    [setting("max_connections", "300")],
  );
  expect(rows.map(({ key, before, after }) => [key, before, after])).toEqual([
    ["max_connections", "151", "300"],
    ["gone", "1", null],
  ]);
  expect(filterSettings(rows, "db 300")).toHaveLength(1);
});

it("numbers of settings are written as people read them, words stay", () => {
  expect(settingText("134217728", "bytes", "en")).toBe("128 MiB");
  expect(settingText("1900000", "rows", "en")).toBe("1,900,000 rows");
  expect(settingText("300", "", "en")).toBe("300");
  expect(settingText("8.0.36", "", "en")).toBe("8.0.36");
  expect(settingText("READ-COMMITTED", "", "en")).toBe("READ-COMMITTED");
});
