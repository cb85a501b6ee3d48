import { expect, it } from "vitest";
import type { ResourceReached } from "@/api/runs/types";
import { limitsInOrder } from "./limits";

const reached = (resource: string, ratio_max: number, first_full_ms: number | null) =>
  ({ resource, ratio_max, first_full_ms }) as unknown as ResourceReached;

it("puts limits in the order in which they were full, then the fullest of the others", () => {
  const sorted = limitsInOrder([
    reached("fds", 0.3, null),
    reached("late", 1.2, 900),
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
