import { describe, expect, it } from "vitest";
import type { KeyFigure, Run } from "@/api/runs/types";
import { failedShare, figureOf, isLatency, parametersOf, sentRate, thresholdLines } from "./figures";

const START = 1_800_000_000_000;

function run(more: Partial<Run> = {}): Run {
  const known: Partial<Run> = {
    id: "r1",
    name: "pool 10",
    state: "running",
    started_ms: START,
    target_rate: 600,
    ramp: null,
    progress: { at_ms: 0, elapsed_seconds: 40, requests: 24_000, rate: 598, failures: 3 },
    thresholds: [],
    findings: [],
    resources: [],
    diagnosis: null,
    ...more,
  };
  return known as Run;
}
const progress = (rate: number | null, elapsed_seconds = 40): Partial<Run> => ({
  progress: { at_ms: 0, elapsed_seconds, requests: 1, rate, failures: 0 },
});

it("takes no figure of the user's own for a latency", () => {
  const figures = ["figure:lag", "p95"].map((id) => ({ id, unit: "seconds", value: 1 }) as KeyFigure);
  expect(figureOf(run({ key_figures: figures }), isLatency)?.id).toBe("p95");
});

describe("the rate that is sent", () => {
  it("is held against the target, with a hundredth to spare", () => {
    expect(sentRate(run(), START + 41_000)).toEqual({ value: 598, target: 600, reached: true });
    expect(sentRate(run(progress(590)), START + 41_000)?.reached).toBe(false);
  });

  it("misses no low rate by the requests that the clock cuts off", () => {
    expect(sentRate(run({ ...progress(4.67), target_rate: 5 }), START + 41_000)?.reached).toBe(true);
    expect(sentRate(run({ ...progress(3), target_rate: 5 }), START + 41_000)?.reached).toBe(false);
  });

  it("is not judged without a target, nor while that grows", () => {
    const ramp = {} as NonNullable<Run["ramp"]>;
    for (const more of [{ target_rate: null }, { ramp }])
      expect(sentRate(run(more), START + 41_000)).toEqual({ value: 598, target: null, reached: null });
  });

  it("is absent where nothing is told, told too late, or over", () => {
    expect(sentRate(run({ progress: null }), START + 41_000)).toBeNull();
    expect(sentRate(run(progress(null)), START + 41_000)).toBeNull();
    expect(sentRate(run(), START + 56_000)).toBeNull();
    expect(sentRate(run({ state: "finished" }), START + 41_000)).toBeNull();
  });
});

it("the share that failed is the document's, else the sender's", () => {
  const figure = { value: null, kinds: [] as string[] } as unknown as KeyFigure;
  expect(failedShare(run(), figure)).toEqual({ value: 3 / 24_000, kinds: [] });
  expect(failedShare(run(), { ...figure, value: 0.2, kinds: ["timeout"] })).toEqual({ value: 0.2, kinds: ["timeout"] });
  expect(failedShare(run({ state: "finished" }), figure).value).toBeNull();
  expect(failedShare(run({ progress: null }), figure).value).toBeNull();
});

it("parameters are told as they are typed", () => {
  expect(parametersOf({ scenario: "checkout", parameters: { pool: "10", users: "50" } })).toBe(
    "checkout · pool=10 · users=50",
  );
  expect(parametersOf({ scenario: "", parameters: {} })).toBe("");
});

it("thresholds on what the chart draws are lines of it", () => {
  const threshold = (expression: string, metric: string, operator: string, value: number | null) => ({
    ...{ expression, metric, operator, limit: value, unit: "seconds", actual: null, window: "steady" },
    ...{ state: "unknown" as const, detail: "", detail_ja: "" },
  });
  const thresholds = [
    threshold("p95<300ms", "p95", "<", 0.3),
    threshold("p99.9<1s", "p99.9", "<", 1),
    threshold("rate>=0.99*target", "rate", ">=", null),
    threshold("p99>1ms", "p99", ">", 0.001),
  ];
  const line = { id: "p95 0.3", label: "p95 <", value: 0.3 };
  expect(thresholdLines([run({ thresholds })])).toEqual([line]);
  const other = [threshold("p95<0.5s", "p95", "<", 0.5)];
  const both = [run({ thresholds }), run({ id: "r2", thresholds: other }), run({ id: "r3", thresholds })];
  expect(thresholdLines(both)).toEqual([line, { id: "p95 0.5", label: "p95 <", value: 0.5 }]);
  expect(thresholdLines([run({ thresholds, silent: true })])).toEqual([]);
});
