import { expect, it } from "vitest";
import type { ResourceReached } from "@/api/runs/types";
import { limitsInOrder } from "./limits";

const reached = (resource: string, ratio_max: number, first_full_ms: number | null, interval_ms?: number) =>
  ({ resource, ratio_max, first_full_ms, interval_ms }) as unknown as ResourceReached;

it("puts limits in the order in which they were full, then the fullest of the others", () => {
  const sorted = limitsInOrder([
    reached("fds", 0.3, null),
    reached("late", 1.2, 1900),
    // Full for a moment only: it has no place.
    reached("spike", 1, null),
    reached("pool", 1, 100),
  ]);
  expect(sorted.map(({ one, place }) => [one.resource, place])).toEqual([
    ["pool", 1],
    ["late", 2],
    ["spike", null],
    ["fds", null],
  ]);
});

it("gives one place to times that are closer than samples come", () => {
  const places = (...limits: ResourceReached[]) => limitsInOrder(limits).map(({ place }) => place);
  expect(places(reached("a", 1, 0), reached("b", 1, 999), reached("c", 1, 2000))).toEqual([1, 1, 3]);
  expect(places(reached("a", 1, 0), reached("b", 1, 50_000, 60_000))).toEqual([1, 1]);
});
