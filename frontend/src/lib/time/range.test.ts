import { describe, expect, it } from "vitest";
import {
  absoluteRange,
  checkRange,
  DEFAULT_RANGE,
  followsNow,
  formatDuration,
  formatPoint,
  lastRange,
  panRange,
  parseDuration,
  parsePoint,
  rangeFromText,
  rangesEqual,
  rangeToText,
  relativeSpanOf,
  resolveRange,
  widenRange,
} from "./range";

const NOW = Date.UTC(2026, 10, 21, 10, 30, 0);

describe("durations", () => {
  it("reads what it writes", () => {
    for (const text of ["1s", "5m", "15m", "1h", "1h30m", "1d", "1w", "2d3h4m5s"]) {
      const ms = parseDuration(text);
      expect(ms).not.toBeNull();
      expect(parseDuration(formatDuration(ms ?? 0))).toBe(ms);
    }
  });

  it("refuses what is no duration", () => {
    for (const text of ["", "m", "5", "5x", "-5m", "5m ", "1.5h"]) expect(parseDuration(text)).toBeNull();
  });
});

describe("points", () => {
  it("reads relative, epoch and ISO forms", () => {
    expect(parsePoint("now")).toEqual({ kind: "now", offsetMs: 0 });
    expect(parsePoint("now-15m")).toEqual({ kind: "now", offsetMs: -900_000 });
    expect(parsePoint(String(NOW))).toEqual({ kind: "at", ms: NOW });
    expect(parsePoint("1795257000")).toEqual({ kind: "at", ms: 1_795_257_000_000 });
    expect(parsePoint("2026-11-21T10:30:00Z")).toEqual({ kind: "at", ms: NOW });
    expect(parsePoint("2026-11-21T19:30:00+09:00")).toEqual({ kind: "at", ms: NOW });
  });

  it("refuses what could mean several things", () => {
    for (const text of ["", "yesterday", "now+5m", "now-", "2026-11-21", "2026-11-21T10:30:00", "12"]) {
      expect(parsePoint(text), text).toBeNull();
    }
  });

  it("writes instants with the zone and without empty milliseconds", () => {
    expect(formatPoint({ kind: "at", ms: NOW })).toBe("2026-11-21T10:30:00Z");
    expect(formatPoint({ kind: "at", ms: NOW + 7 })).toBe("2026-11-21T10:30:00.007Z");
    expect(formatPoint({ kind: "now", offsetMs: -5_400_000 })).toBe("now-1h30m");
  });
});

describe("ranges", () => {
  it("resolves relative, absolute and half-relative ones", () => {
    expect(resolveRange(lastRange("5m"), NOW)).toEqual({ start: NOW - 300_000, end: NOW });
    expect(resolveRange(absoluteRange(2000, 9000), NOW)).toEqual({ start: 2000, end: 9000 });
    const since = { from: { kind: "at" as const, ms: NOW - 60_000 }, to: { kind: "now" as const, offsetMs: 0 } };
    expect(resolveRange(since, NOW)).toEqual({ start: NOW - 60_000, end: NOW });
    expect(followsNow(since)).toBe(true);
  });

  it("orders a drag from right to left and never makes an empty range", () => {
    expect(absoluteRange(9000, 2000)).toEqual(absoluteRange(2000, 9000));
    const { start, end } = resolveRange(absoluteRange(5000, 5000), NOW);
    expect(end - start).toBe(1000);
  });

  it("names the offered spans whatever unit they are written in", () => {
    expect(relativeSpanOf(lastRange("60m"))).toBe("1h");
    expect(relativeSpanOf(lastRange("1d"))).toBe("24h");
    expect(relativeSpanOf(lastRange("7m"))).toBe("7m");
    expect(relativeSpanOf(absoluteRange(1, 2))).toBeNull();
  });

  it("says what is wrong with a range", () => {
    expect(checkRange(absoluteRange(1000, 2000), NOW)).toBeNull();
    expect(checkRange({ from: { kind: "now", offsetMs: 0 }, to: { kind: "at", ms: NOW - 1 } }, NOW)).toBe("order");
    expect(checkRange(absoluteRange(0, 400 * 86_400_000), NOW)).toBe("too_long");
  });

  it("pans without passing now, and widens about the middle", () => {
    expect(resolveRange(panRange(lastRange("10m"), -0.5, NOW), NOW)).toEqual({
      start: NOW - 900_000,
      end: NOW - 300_000,
    });
    expect(resolveRange(panRange(absoluteRange(NOW - 700_000, NOW - 100_000), 0.5, NOW), NOW).end).toBe(NOW);
    expect(resolveRange(widenRange(absoluteRange(4000, 6000), 2, NOW), NOW)).toEqual({ start: 3000, end: 7000 });
    expect(formatPoint(widenRange(lastRange("5m"), 2, NOW).from)).toBe("now-10m");
  });

  it("copies as Grafana does and pastes from several sources", () => {
    expect(rangeFromText(rangeToText(DEFAULT_RANGE))).toEqual(DEFAULT_RANGE);
    expect(rangeFromText('{"from":"now-1h","to":"now"}')).toEqual(lastRange("1h"));
    expect(rangeFromText("https://grafana.example/d/x?orgId=1&from=now-15m&to=now")).toEqual(lastRange("15m"));
    const pair = rangeFromText("2026-11-21T10:00:00Z/2026-11-21T10:30:00Z");
    expect(pair && rangesEqual(pair, absoluteRange(NOW - 1_800_000, NOW))).toBe(true);
    for (const text of ["", "hello", "{", '{"from":1}', "https://example.org/"])
      expect(rangeFromText(text), text).toBeNull();
  });
});
