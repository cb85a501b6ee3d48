import { expect, it } from "vitest";
import type { PoolAdvice, PoolGroup } from "@/api/pools/types";
import { barsOf } from "./bars";

function group(job: string, limits: readonly (number | null)[], wanted: number | null, advised: number | null) {
  return {
    job,
    pool: "main",
    instances: limits.length,
    wanted,
    settings: [{ name: "max_open", advised }],
    members: limits.map((max_open) => ({ max_open })),
  } as unknown as PoolGroup;
}

function advice(groups: readonly PoolGroup[], limit = 100): PoolAdvice {
  return { server: { max_connections: limit, others: 20 }, reserve: 5, groups } as unknown as PoolAdvice;
}

it("shares of a bar make up the whole", () => {
  const [now, advised] = barsOf(advice([group("app", [30], 12, 12), group("jobs", [10], 5, 5)]));
  expect(now?.parts.map(({ kind, count }) => [kind, count])).toEqual([
    ["others", 20],
    ["pool", 30],
    ["pool", 10],
    ["reserve", 5],
    ["free", 35],
  ]);
  for (const bar of [now, advised]) {
    expect(bar?.parts.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
    expect([bar?.limit, bar?.tooMany]).toEqual([1, 0]);
  }
});

it("what is beyond the limit is drawn beyond it, on the same scale", () => {
  const bars = barsOf(advice([group("app", [50, 50, 50], 30, 25)]));
  const [now, needed, advised] = bars;
  expect([now?.id, now?.tooMany]).toEqual(["now", 75]);
  expect(bars.map(({ limit }) => limit)).toEqual([100 / 175, 100 / 175, 100 / 175]);
  expect(advised?.parts.find(({ kind }) => kind === "pool")?.share).toBeCloseTo(75 / 175);
  expect(now?.parts.some(({ kind }) => kind === "free")).toBe(false);
  expect([needed?.id, needed?.tooMany]).toEqual(["needed", 15]);
  expect([advised?.id, advised?.tooMany]).toEqual(["advised", 0]);
});

it("what cannot be told has no bar", () => {
  expect(barsOf(advice([group("app", [0], 12, 12)])).map(({ id }) => id)).toEqual(["advised"]);
  expect(barsOf(advice([group("app", [null], 12, 12)])).map(({ id }) => id)).toEqual(["advised"]);
  expect(barsOf(advice([group("app", [30], null, null)])).map(({ id }) => id)).toEqual(["now"]);
  expect(barsOf(advice([]))).toEqual([]);
  expect(barsOf({ ...advice([group("app", [30], 12, 12)]), server: null })).toEqual([]);
});
