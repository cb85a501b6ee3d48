// @vitest-environment node
import { describe, expect, it } from "vitest";
import {
  formatClock,
  formatDuration,
  formatInstant,
  formatTick,
  inZone,
  liveRange,
  MINUTE,
  SECOND,
  snapGrain,
} from "./time";

const noon = Date.UTC(2026, 10, 21, 12, 3, 5, 250);

describe("liveRange", () => {
  it("stands still between two multiples of the grain, with the newest sample always inside", () => {
    const span = 10 * MINUTE;
    expect(snapGrain(span)).toBe(30 * SECOND);
    const starts = new Set<number>();
    for (let second = 0; second < 120; second += 1) {
      const now = noon + second * SECOND;
      const range = liveRange(now, span);
      expect(range.endMs).toBeGreaterThan(now);
      expect(range.startMs).toBeLessThanOrEqual(now - span);
      expect(range.endMs - range.startMs).toBeLessThanOrEqual(span + 2 * snapGrain(span));
      starts.add(range.startMs);
    }
    expect(starts.size).toBe(5);
  });

  it("has a grain for short and for long windows", () => {
    expect(snapGrain(10 * SECOND)).toBe(SECOND);
    expect(snapGrain(7 * 86_400 * SECOND)).toBe(21_600 * SECOND);
  });
});

describe("texts", () => {
  it("writes clocks and instants in both languages", () => {
    expect(formatClock(noon, "utc", "minute")).toBe("12:03");
    expect(formatClock(noon, "utc", "milli")).toBe("12:03:05.250");
    expect(formatInstant(noon - 250, "utc", "en")).toBe("21 Nov 2026, 12:03:05 UTC");
    expect(formatInstant(noon - 250, "utc", "ja")).toBe("2026年11月21日 12:03:05 UTC");
  });

  it("puts the clock times of the server's texts into the page's zone", () => {
    const text = "taken at 10:42:43 UTC; refused from 12:04:00 UTC";
    expect(inZone(text, "utc", noon)).toBe(text);
    const [first, second] = [Date.UTC(2026, 10, 21, 10, 42, 43), Date.UTC(2026, 10, 21, 12, 4)].map((ms) =>
      formatClock(ms, "local", "second"),
    );
    expect(inZone(text, "local", noon)).toBe(`taken at ${first}; refused from ${second}`);
    expect(inZone("10:42:43 UTCにすべて使用中", "local", noon)).toBe(`${first}にすべて使用中`);
    expect(inZone("ran at 10:42:43", "local", noon)).toBe("ran at 10:42:43");
  });

  it("writes ticks as precisely as their distance asks, and the day at midnight", () => {
    const midnight = Date.UTC(2026, 10, 22);
    expect(formatTick(midnight, 30 * MINUTE, "utc", "en")).toBe("22 Nov");
    expect(formatTick(midnight + 30 * MINUTE, 30 * MINUTE, "utc", "en")).toBe("00:30");
    expect(formatTick(midnight, 5 * SECOND, "utc", "ja")).toBe("00:00:00");
    expect(formatTick(midnight, 200, "utc", "ja")).toBe("00:00:00.000");
  });

  it("writes lengths of time", () => {
    const cases: [number, string, string][] = [
      [850, "850 ms", "850ミリ秒"],
      [12_400, "12 s", "12秒"],
      [200_000, "3 min 20 s", "3分20秒"],
      [7_500_000, "2 h 5 min", "2時間5分"],
      [2 * 86_400_000, "2 d", "2日"],
    ];
    for (const [span, en, ja] of cases) {
      expect(formatDuration(span, "en")).toBe(en);
      expect(formatDuration(span, "ja")).toBe(ja);
    }
  });
});
