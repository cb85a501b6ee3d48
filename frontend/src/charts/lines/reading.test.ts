// @vitest-environment node
import { describe, expect, it } from "vitest";
import { judgedSampleMs, type ReadingSource, readAt, snapTime } from "./reading";

const source: ReadingSource = {
  grid: { startMs: 10_000, stepMs: 1000, count: 4 },
  reduced: false,
  series: [
    { id: "a", name: "a", values: [1, 2, 3, null] },
    { id: "b", name: "b", values: [9, 1, null, 4] },
  ],
  slots: new Map([["b", 5]]),
  bands: [
    { id: "run", label: "run 1", startMs: 11_000, endMs: 12_000 },
    { id: "open", label: "run 2", startMs: 12_500, endMs: null },
  ],
  notes: [{ id: "n", text: "deploy", startMs: 11_900, endMs: null }],
};

describe("readAt", () => {
  it("snaps to the data and sorts by value, series without a value last", () => {
    const reading = readAt(source, 12_300, 200);
    expect(reading?.timeMs).toBe(12_000);
    expect(reading?.rows.map((row) => [row.series.id, row.value])).toEqual([
      ["a", 3],
      ["b", null],
    ]);
    expect(readAt(source, 9500, 0)?.rows[0]).toMatchObject({ slot: 5, value: 9 });
  });

  it("tells runs and notes at that time", () => {
    const reading = readAt(source, 12_000, 200);
    expect(reading?.bands.map((band) => band.id)).toEqual(["run"]);
    expect(reading?.notes.map((note) => note.id)).toEqual(["n"]);
    expect(readAt(source, 13_000, 200)?.bands.map((band) => band.id)).toEqual(["open"]);
    expect(readAt(source, 13_000, 200)?.notes).toEqual([]);
  });

  it("reads a reduced grid by buckets, with their extrema", () => {
    const reduced = { ...source, reduced: true };
    expect(snapTime(reduced, 11_200)).toBe(10_000);
    const reading = readAt(reduced, 13_000, 0);
    expect(reading?.timeMs).toBe(12_000);
    expect(readAt(reduced, 10_000, 0)?.rows.map((row) => [row.series.id, row.low, row.high])).toEqual([
      ["b", 1, 9],
      ["a", 1, 2],
    ]);
  });

  it("gives no value for a time at which nothing was measured", () => {
    const future = readAt(source, 60_000, 0);
    expect(future?.timeMs).toBe(60_000);
    expect(future?.rows.map((row) => row.value)).toEqual([null, null]);
  });

  it("has nothing to say about an empty grid", () => {
    const empty = { ...source, grid: { ...source.grid, count: 0 } };
    expect(readAt(empty, 10_000, 0)).toBeNull();
    expect(snapTime(empty, 10_000)).toBeNull();
  });
});

it("judges a chart by what is prompt, and by what comes late only where nothing else is drawn", () => {
  const prompt = { id: "a", name: "a", values: [1, 2, null, null] };
  const late = { id: "b", name: "b", values: [1, 2, 3, null], kind: "period" as const };
  const none = { id: "c", name: "c", values: [null, null, null, null] };
  expect(judgedSampleMs(source.grid, [prompt, late])).toBe(11_000);
  expect(judgedSampleMs(source.grid, [late, none])).toBe(12_000);
  expect(judgedSampleMs(source.grid, [none])).toBeNull();
});
