// @vitest-environment node
import { describe, expect, it } from "vitest";
import { chartCsv } from "./csv";
import { exportName } from "./export";

describe("chartCsv", () => {
  it("writes UTC times and base units, gaps as empty cells, within the range only", () => {
    const start = Date.UTC(2026, 10, 21, 10, 0, 0);
    const series = [
      { id: "a", name: 'sent, "all"', values: [1, null, 0.25, 4] },
      { id: "b", name: "=HYPERLINK(1)", values: [5, 6, 7, 8] },
    ];
    const grid = { startMs: start, stepMs: 1000, count: 4 };
    expect(chartCsv(grid, series, { startMs: start + 500, endMs: start + 2500 })).toBe(
      `time,"sent, ""all""",'=HYPERLINK(1)\r\n2026-11-21T10:00:01.000Z,,6\r\n2026-11-21T10:00:02.000Z,0.25,7\r\n`,
    );
  });
});

describe("exportName", () => {
  it("keeps letters of any script and is safe as a file name", () => {
    const time = Date.UTC(2026, 10, 21, 10, 3, 0);
    expect(exportName("Pool waits / s", time, "csv")).toBe("loadwatch-pool-waits-s-20261121T100300Z.csv");
    expect(exportName("../待ち", time, "png")).toBe("loadwatch-待ち-20261121T100300Z.png");
    expect(exportName("///", time, "png")).toBe("loadwatch-chart-20261121T100300Z.png");
  });
});
