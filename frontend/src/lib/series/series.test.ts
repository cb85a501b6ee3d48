// @vitest-environment node
import { describe, expect, it } from "vitest";
import {
  type Answer,
  answerFromWire,
  canMerge,
  indexRange,
  lastSampleMs,
  mergeAnswer,
  nearestIndex,
  summarize,
  trimAnswer,
  type Values,
} from "./series";

function answer(startMs: number, columns: Record<string, Values>, extra: Partial<Answer> = {}): Answer {
  const count = Object.values(columns)[0]?.length ?? 0;
  return {
    startMs,
    stepMs: 1000,
    count,
    reduced: false,
    completeMs: startMs + count * 1000,
    results: [
      {
        signal: "rps",
        error: null,
        series: Object.entries(columns).map(([name, values]) => ({ name, labels: {}, values })),
      },
    ],
    ...extra,
  };
}

const valuesOf = (merged: Answer, name: string) =>
  merged.results[0]?.series.find((series) => series.name === name)?.values;

describe("mergeAnswer", () => {
  it("overwrites the unfinished tail and appends", () => {
    const merged = mergeAnswer(answer(0, { a: [1, 2, 3, 4] }), answer(2000, { a: [30, null, 50] }));
    expect(merged.startMs).toBe(0);
    expect(merged.count).toBe(5);
    expect(valuesOf(merged, "a")).toEqual([1, 2, 30, null, 50]);
    expect(merged.completeMs).toBe(5000);
  });

  it("fills a series that the increment lacks, and a new one in front, with gaps", () => {
    const merged = mergeAnswer(answer(0, { a: [1, 2] }), answer(2000, { b: [7, 8] }));
    expect(valuesOf(merged, "a")).toEqual([1, 2, null, null]);
    expect(valuesOf(merged, "b")).toEqual([null, null, 7, 8]);
  });

  it("tells series of one name apart by their labels, whatever the labels' order", () => {
    const held = answerFromWire({
      start_ms: 0,
      step_ms: 1000,
      count: 1,
      reduced: false,
      complete_ms: 1000,
      results: [
        {
          signal: "s",
          series: [
            { name: "x", labels: { a: "1", b: "2" }, values: [1] },
            { name: "x", labels: { a: "2" }, values: [2] },
          ],
        },
      ],
    });
    const next: Answer = {
      ...held,
      startMs: 1000,
      results: [{ signal: "s", error: null, series: [{ name: "x", labels: { b: "2", a: "1" }, values: [9] }] }],
    };
    expect(mergeAnswer(held, next).results[0]?.series.map((series) => series.values)).toEqual([
      [1, 9],
      [2, null],
    ]);
  });

  it("does not change what it was given", () => {
    const held = answer(0, { a: [1, 2] });
    mergeAnswer(held, answer(1000, { a: [5, 6] }));
    expect(valuesOf(held, "a")).toEqual([1, 2]);
  });

  it("takes the increment alone when the step differs, the grids are askew or a hole lies between", () => {
    const held = answer(0, { a: [1, 2] });
    for (const next of [
      answer(2000, { a: [5] }, { stepMs: 2000 }),
      answer(1500, { a: [5] }),
      answer(3000, { a: [5] }),
      answer(2000, { a: [5] }, { reduced: true }),
    ]) {
      expect(canMerge(held, next)).toBe(false);
      expect(mergeAnswer(held, next)).toBe(next);
    }
  });

  it("keeps the error of a signal that failed now", () => {
    const failed: Answer = {
      ...answer(1000, { a: [1] }),
      results: [{ signal: "rps", series: [], error: { code: "timeout", detail: "too slow" } }],
    };
    expect(mergeAnswer(answer(0, { a: [1] }), failed).results[0]?.error?.code).toBe("timeout");
  });
});

describe("trimAnswer", () => {
  it("drops whole pairs, so that buckets of a reduced grid stay whole", () => {
    const trimmed = trimAnswer(answer(0, { a: [1, 2, 3, 4, 5] }), 3500);
    expect(trimmed.startMs).toBe(2000);
    expect(valuesOf(trimmed, "a")).toEqual([3, 4, 5]);
  });

  it("forgets a series that has no value left and never trims past the end", () => {
    const trimmed = trimAnswer(answer(0, { a: [1, 2, null, null], b: [1, 2, 3, 4] }), 2000);
    expect(trimmed.results[0]?.series.map((series) => series.name)).toEqual(["b"]);
    expect(trimAnswer(answer(0, { a: [1, 2] }), 1e9).count).toBe(0);
  });
});

describe("reading a grid", () => {
  const grid = { startMs: 10_000, stepMs: 1000, count: 5 };

  it("finds the newest sample of all series", () => {
    expect(lastSampleMs(grid, [{ values: [1, null, null, null, null] }, { values: [1, 2, 3, null, null] }])).toBe(
      12_000,
    );
    expect(lastSampleMs(grid, [{ values: [null, null, null, null, null] }])).toBeNull();
  });

  it("summarizes a part of the values and says so when there are none", () => {
    expect(summarize([5, 1, null, 3])).toEqual({ last: 3, min: 1, max: 5, mean: 3 });
    expect(summarize([5, 1, null, 3], 1, 3)).toEqual({ last: 1, min: 1, max: 1, mean: 1 });
    expect(summarize([null]).mean).toBeNull();
  });

  it("finds the nearest point and the points of a range", () => {
    expect(nearestIndex(grid, 11_400)).toBe(1);
    expect(nearestIndex(grid, 0)).toBe(0);
    expect(nearestIndex(grid, 1e9)).toBe(4);
    expect(nearestIndex({ ...grid, count: 0 }, 0)).toBe(-1);
    expect(indexRange(grid, 10_500, 13_000)).toEqual([1, 4]);
    expect(indexRange(grid, 20_000, 30_000)).toEqual([10, 10]);
  });
});
