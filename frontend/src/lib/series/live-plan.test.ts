import { describe, expect, it } from "vitest";
import { absoluteRange, lastRange } from "@/lib/time/range";
import {
  axisRange,
  backoff,
  continueAnswer,
  type FeedView,
  panelAnswer,
  planAsks,
  refreshPeriod,
  viewKey,
} from "./live-plan";
import type { Answer } from "./series";

const NOW = Date.UTC(2026, 10, 21, 10, 30, 0);
const RANGE = { startMs: 10_000, endMs: 70_000 };
const LIVE: FeedView = { range: lastRange("5m"), pausedAt: null, filters: {}, lang: "en" };

function answer(startMs: number, values: (number | null)[], stepMs = 1000, signal = "a"): Answer {
  const endMs = startMs + values.length * stepMs;
  const series = [{ name: signal, labels: {}, values }];
  const results = [{ signal, series, error: null }];
  return { startMs, stepMs, count: values.length, reduced: false, completeMs: endMs - 4 * stepMs, results };
}
const ofLength = (count: number) => Array.from({ length: count }, (_, index) => index);

describe("the time axis", () => {
  it("stays still between its steps while live, and covers the span and now", () => {
    const first = axisRange(LIVE, NOW);
    expect(axisRange(LIVE, NOW + 900)).toEqual(first);
    expect(first.startMs).toBeLessThanOrEqual(NOW - 300_000);
    expect(first.endMs).toBeGreaterThan(NOW);
  });

  it("is exact while paused and for fixed ranges", () => {
    expect(axisRange({ ...LIVE, pausedAt: NOW }, NOW + 60_000)).toEqual({ startMs: NOW - 300_000, endMs: NOW });
    expect(axisRange({ ...LIVE, range: absoluteRange(5000, 9000) }, NOW)).toEqual({ startMs: 5000, endMs: 9000 });
  });

  it("keeps a fixed start with a moving end", () => {
    const range = { from: { kind: "at" as const, ms: NOW - 90_000 }, to: { kind: "now" as const, offsetMs: 0 } };
    expect(axisRange({ ...LIVE, range }, NOW).startMs).toBe(NOW - 90_000);
  });
});

describe("how often", () => {
  it("is once a pixel, between four a second and twice a minute", () => {
    expect(refreshPeriod({ startMs: 0, endMs: 60_000 })).toBe(250);
    expect(refreshPeriod({ startMs: 0, endMs: 3_600_000 })).toBe(6000);
    expect(refreshPeriod({ startMs: 0, endMs: 7 * 86_400_000 })).toBe(30_000);
  });

  it("backs off from a server that is away", () => {
    expect([1, 2, 3, 4, 5, 9].map(backoff)).toEqual([1000, 2000, 4000, 8000, 15_000, 15_000]);
  });
});

describe("what is asked", () => {
  const a = { panel: "A", signals: ["a"] };
  const b = { panel: "B", signals: ["b"] };

  it("is everything for panels that hold nothing, and the rest from the last complete point", () => {
    const held = new Map([["A", answer(10_000, ofLength(50))]]);
    expect(planAsks(held, [a, b], RANGE)).toEqual([
      { panels: [b], ...RANGE, stepMs: null, maxPoints: 600 },
      { panels: [a], startMs: 56_000, endMs: 70_000, stepMs: 1000, maxPoints: 600 },
    ]);
  });

  it("is everything when the held values end before the range or begin after it", () => {
    const old = new Map([["A", answer(0, ofLength(8))]]);
    expect(planAsks(old, [a], RANGE)).toEqual([{ panels: [a], ...RANGE, stepMs: null, maxPoints: 600 }]);
    const late = new Map([["A", answer(20_000, ofLength(30))]]);
    expect(planAsks(late, [a], RANGE)[0]?.stepMs).toBeNull();
  });

  it("is apart for values that come late, and all of them where they may still be revised", () => {
    const slow = { panel: "C", signals: ["c"], late: true };
    const held = new Map([["C", { ...answer(0, [1, 2], 60_000, "c"), completeMs: 0 }]]);
    expect(
      planAsks(held, [a, slow], RANGE).map(({ panels, startMs, maxPoints }) => [panels, startMs, maxPoints]),
    ).toEqual([
      [[a], RANGE.startMs, 600],
      [[slow], RANGE.startMs, 1500],
    ]);
  });

  it("is apart for each period of late values", () => {
    const minutes = { panel: "C", signals: ["c"], late: true, periodMs: 60_000 };
    const seconds = { panel: "D", signals: ["d"], late: true, periodMs: 10_000 };
    expect(planAsks(new Map(), [minutes, seconds], RANGE).map(({ panels }) => panels)).toEqual([[minutes], [seconds]]);
  });

  it("is apart for a panel that has late values among others, once it is known to have any", () => {
    const some = { ...answer(10_000, ofLength(50)), completeMs: 0 };
    const mixed = { ...some, results: some.results.map((result) => ({ ...result, newestMs: 12_000 })) };
    const held = new Map([
      ["A", mixed],
      ["B", answer(10_000, ofLength(50), 1000, "b")],
    ]);
    expect(planAsks(held, [a, b], RANGE).map(({ panels, startMs }) => [panels, startMs])).toEqual([
      [[a], 10_000],
      [[b], 56_000],
    ]);
  });

  it("splits what one request may not name", () => {
    const many = Array.from({ length: 150 }, (_, index) => ({ panel: `P${index}`, signals: ["x", "y"] }));
    const asks = planAsks(new Map(), many, RANGE);
    expect(asks.map((ask) => ask.panels.length)).toEqual([100, 50]);
  });

  it("differs by range, pause, filters and language only", () => {
    expect(viewKey(LIVE)).toBe(viewKey({ ...LIVE, filters: {} }));
    for (const other of [
      { lang: "ja" as const },
      { pausedAt: NOW },
      { filters: { job: ["x"] } },
      { range: lastRange("1h") },
    ]) {
      expect(viewKey({ ...LIVE, ...other })).not.toBe(viewKey(LIVE));
    }
  });
});

describe("an increment", () => {
  it("replaces what was not complete and drops what left the range", () => {
    const held = answer(10_000, ofLength(50));
    const joined = continueAnswer(held, answer(56_000, [100, 101, 102, 103, 104, 105]), {
      startMs: 14_000,
      endMs: 74_000,
    });
    expect(joined?.startMs).toBe(14_000);
    expect(joined?.results[0]?.series[0]?.values.slice(-8)).toEqual([44, 45, 100, 101, 102, 103, 104, 105]);
  });

  it("of another step, or after a hole, does not continue", () => {
    const held = answer(10_000, ofLength(50));
    expect(continueAnswer(held, answer(56_000, [1], 2000), RANGE)).toBeNull();
    expect(continueAnswer(held, answer(90_000, [1]), RANGE)).toBeNull();
  });
});

it("each panel takes its own signals in its own order", () => {
  const both = { ...answer(0, [1]), results: ["a", "b", "c"].map((signal) => ({ signal, series: [], error: null })) };
  expect(panelAnswer(both, ["c", "a"]).results.map(({ signal }) => signal)).toEqual(["c", "a"]);
});
