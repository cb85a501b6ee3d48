/** A chart's data as CSV (RFC 4180). Pure. */

import type { ChartSeries } from "@/charts/chart-types";
import type { TimeAxis } from "@/charts/lines/time-axis";
import { type Grid, indexRange, timeAt } from "@/lib/series/series";
import type { Range } from "@/lib/time/time";

/** Quotes where needed, and disarms what a spreadsheet would run as a formula. */
export function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * First column ISO 8601 in UTC, or seconds on an axis of elapsed time; then one a series in base units; a gap is an
 * empty cell.
 */
export function chartCsv(grid: Grid, series: readonly ChartSeries[], range: Range, axis: TimeAxis = "time"): string {
  const [from, to] = indexRange(grid, range.startMs, range.endMs);
  const head = axis === "elapsed" ? "elapsed_seconds" : "time";
  const lines = [[head, ...series.map((one) => csvCell(one.name))].join(",")];
  for (let index = from; index < to; index += 1) {
    const values = series.map((one) => one.values[index] ?? "");
    const timeMs = timeAt(grid, index);
    const time = axis === "elapsed" ? timeMs / 1000 : new Date(timeMs).toISOString();
    lines.push([time, ...values].join(","));
  }
  return `${lines.join("\r\n")}\r\n`;
}
