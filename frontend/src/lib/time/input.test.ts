import { describe, expect, it } from "vitest";
import { readTime, writeTime } from "./input";

const NOW = Date.UTC(2026, 10, 21, 10, 30, 0);

describe("times as typed", () => {
  it("are read in the page's zone, and written so that they are read again", () => {
    expect(readTime("2026-11-21 10:30:00", "utc")).toEqual({ kind: "at", ms: NOW });
    expect(readTime("2026-11-21 10:30", "utc")).toEqual({ kind: "at", ms: NOW });
    for (const zone of ["utc", "local"] as const) {
      expect(readTime(writeTime(NOW + 250, zone), zone)).toEqual({ kind: "at", ms: NOW + 250 });
    }
    expect(readTime("now-5m", "utc")).toEqual({ kind: "now", offsetMs: -300_000 });
  });

  it("that do not exist are refused", () => {
    for (const text of ["2026-02-31 10:00", "2026-13-01 10:00", "2026-11-21 25:00", "21/11/2026", ""]) {
      expect(readTime(text, "utc"), text).toBeNull();
    }
  });
});
