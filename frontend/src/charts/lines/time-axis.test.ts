import { expect, it } from "vitest";
import { chartCsv } from "@/charts/export/csv";
import { formatElapsed, instantText, tickText } from "./time-axis";

it("writes elapsed time with hours only where there are some, and a minus before zero", () => {
  expect([0, 5000, 65_000, 3_750_000, -10_000].map((ms) => formatElapsed(ms))).toEqual([
    "0:00",
    "0:05",
    "1:05",
    "1:02:30",
    "−0:10",
  ]);
  expect(formatElapsed(1250, "milli")).toBe("0:01.250");
  expect(formatElapsed(-400)).toBe("0:00");
});

it("keeps clock times as they were", () => {
  const time = Date.UTC(2026, 10, 21, 10, 0, 5);
  expect(tickText("time", time, 5000, "utc", "en")).toBe("10:00:05");
  expect(instantText("time", time, "utc", "en")).toBe("21 Nov 2026, 10:00:05 UTC");
  expect(tickText("elapsed", 90_000, 30_000, "local", "en")).toBe("1:30");
  expect(instantText("elapsed", 90_000, "local", "en")).toBe("1:30 elapsed");
  expect(instantText("elapsed", 90_000, "local", "ja")).toBe("経過 1:30");
});

it("exports elapsed seconds", () => {
  const grid = { startMs: -1000, stepMs: 1000, count: 3 };
  const series = [{ id: "a", name: "=a", values: [1, null, 3] }];
  expect(chartCsv(grid, series, { startMs: -1000, endMs: 2000 }, "elapsed")).toBe(
    "elapsed_seconds,'=a\r\n-1,1\r\n0,\r\n1,3\r\n",
  );
});
