/** How figures and facts of runs are written. Pure. */
import { formatDuration, type Locale } from "@/lib/time/time";
import { formatValue, type Unit } from "@/lib/units";

export const LATENCIES = ["p50", "p90", "p95", "p99", "max"] as const;

/** What a run is called where it was given no name. */
export function runTitle(run: { readonly id: string; readonly name: string; readonly scenario: string }): string {
  return run.name || run.scenario || run.id;
}

/** Seven digits of a hash, as git shows it; anything else, such as a version, stays whole. */
export function shortCommit(commit: string): string {
  return /^[0-9a-f]{8,64}$/i.test(commit) ? commit.slice(0, 7) : commit;
}

/** Seconds since a run's start as a stopwatch shows them: `0:42`, `12:05`, `1:02:03`, tenths where there are any. */
export function formatElapsed(seconds: number): string {
  const tenths = Math.round(Math.max(0, seconds) * 10);
  const whole = Math.floor(tenths / 10);
  const two = (value: number) => String(value).padStart(2, "0");
  const tail = tenths % 10 === 0 ? "" : `.${tenths % 10}`;
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}${tail}` : `${minutes}:${two(whole % 60)}${tail}`;
}

const UNITS: ReadonlySet<string> = new Set<Unit>([
  "seconds",
  "bytes",
  "ratio",
  "count",
  "per_second",
  "bytes_per_second",
]);

/** A value whose unit the server names: one of ours, or text that stands behind the number. */
export function formatMeasure(value: number | null | undefined, unit: string, locale: Locale): string {
  if (UNITS.has(unit)) return formatValue(value, unit as Unit, locale);
  const text = formatValue(value, "count", locale);
  return unit === "" || value === null || value === undefined ? text : `${text} ${unit}`;
}

/** How many, to the last one: totals are held against those of the tool's own report. */
export function formatCount(count: number | null | undefined): string {
  if (count === null || count === undefined) return "–";
  return String(Math.round(count)).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** A share of successes. 99.96 % is not all, so it is never rounded up to 100 %, nor the last success down to 0 %. */
export function formatSuccess(ratio: number | null | undefined): string {
  if (ratio === null || ratio === undefined) return "–";
  if (ratio === 0 || ratio === 1) return `${ratio * 100}%`;
  const percent = Math.min(99.99, Math.max(0.01, ratio * 100));
  return `${percent.toFixed(2)}%`;
}

/** Change against a base as a signed percentage; null when there is nothing to compare with. */
export function relativeChange(value: number | null | undefined, base: number | null | undefined): number | null {
  if (value === null || value === undefined || base === null || base === undefined || base === 0) return null;
  return (value - base) / Math.abs(base);
}

/** `+12.4%`, `−3%`, `±0%`; from threefold on `×28`, which is easier to grasp than +2700%. */
export function formatChange(change: number): string {
  if (change >= 2) return `×${change >= 9 ? Math.round(change + 1) : (change + 1).toFixed(1)}`;
  const percent = change * 100;
  const size = Math.abs(percent);
  const text = size >= 100 ? size.toFixed(0) : size.toFixed(1).replace(/\.0$/, "");
  if (text === "0") return "±0%";
  return `${percent > 0 ? "+" : "−"}${text}%`;
}

/** How far a clock is ahead (positive) or behind, as a length of time without sign. */
export function formatSkew(seconds: number, locale: Locale): string {
  return formatDuration(Math.abs(seconds) * 1000, locale);
}

/** A command as it can be pasted into a shell. */
export function shellCommand(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
}

/** Total over the failures among the outcomes. */
export function failures(outcomes: Readonly<Record<string, number>>): number {
  return Object.entries(outcomes).reduce((sum, [outcome, count]) => (outcome === "ok" ? sum : sum + count), 0);
}

/** What the server says of a measurement, in the page's language where it knows it. */
export function detailOf(said: { readonly detail: string; readonly detail_ja: string }, locale: Locale): string {
  return locale === "ja" && said.detail_ja !== "" ? said.detail_ja : said.detail;
}
