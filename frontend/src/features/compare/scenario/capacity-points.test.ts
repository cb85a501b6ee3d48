import { describe, expect, it } from "vitest";
import type { Capacity, CapacityResource } from "@/api/compare/types";
import { capacityPoints, capacityTicks, countCommits, splitResources } from "./capacity-points";

const LAW = { rate: 960, low: 900, high: 1040, demand: 0.05, idle: 2, curved: false, top_rate: 600, top_use: 31 };

function resource(key: string, known: boolean): CapacityResource {
  return {
    ...{ key, resource: key, title: { en: key, ja: key }, name: "", unit: "count", limit: 50 },
    law: known ? { ...LAW, reached: null } : null,
    refused: known ? null : "flat",
    text: { en: "", ja: "" },
    points: [100, 600].map((rate) => ({ run: "r1", rate, use: 2 + 0.05 * rate, seconds: 30 })),
  };
}

const TEXT = {
  step: (rate: string, use: string) => `${rate} ${use}`,
  stepOf: (run: string, seconds: string) => `${run} ${seconds}`,
  full: (rate: string, low: string, high: string) => `full ${rate} ${low} ${high}`,
};

describe("points of a forecast", () => {
  it("are its steps, and where the limit is reached", () => {
    const points = capacityPoints(resource("pool", true), new Map([["r1", "first"]]), TEXT, "en");
    expect(points.map(({ x, y }) => [x, y])).toEqual([
      [100, 7],
      [600, 32],
      [960, 50],
    ]);
    expect(points[0]?.lines).toEqual(["first 30"]);
    expect(points.at(-1)?.label).toBe("full 960/s 900/s 1,040/s");
  });

  it("have no such place without a number", () => {
    expect(capacityPoints(resource("pool", false), new Map(), TEXT, "en")).toHaveLength(2);
  });

  it("have round labels below them", () => {
    const points = capacityPoints(resource("pool", true), new Map(), TEXT, "en");
    expect(capacityTicks(points, "en").map(({ label }) => label)).toEqual(["200/s", "400/s", "600/s", "800/s"]);
    expect(capacityTicks(points.slice(0, 1), "en")).toEqual([]);
  });
});

describe("a forecast", () => {
  it("tells resources with a number from those without, and how many commits it mixes", () => {
    const run = { run: "r", name: "", started_ms: 0, top_rate: 1, left_out: [], little: null, little_text: null };
    const capacity = {
      now: {
        resources: [resource("pool", true), resource("memory", false)],
        runs: ["a", "b", "a"].map((commit) => ({ ...run, commit })),
      },
    } as unknown as Capacity;
    const { known, refused } = splitResources(capacity);
    expect(known.map(({ resource: one }) => one.key)).toEqual(["pool"]);
    expect(refused.map(({ key }) => key)).toEqual(["memory"]);
    expect(countCommits(capacity)).toBe(2);
  });
});
