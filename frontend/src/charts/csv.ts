/** A chart's data as CSV (RFC 4180). Pure. */

import type { ChartSeries } from "@/charts/chart-types";
import { type Grid, indexRange, timeAt } from "@/lib/series";
import type { Range } from "@/lib/time";

/** Quotes where needed, and disarms what a spreadsheet would run as a formula. */
function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** First column ISO 8601 in UTC, then one a series in base units; a gap is an empty cell. */
export function chartCsv(grid: Grid, series: readonly ChartSeries[], range: Range): string {
  const [from, to] = indexRange(grid, range.startMs, range.endMs);
  const lines = [["time", ...series.map((one) => cell(one.name))].join(",")];
  for (let index = from; index < to; index += 1) {
    const values = series.map((one) => one.values[index] ?? "");
    lines.push([new Date(timeAt(grid, index)).toISOString(), ...values].join(","));
  }
  return `${lines.join("\r\n")}\r\n`;
}
