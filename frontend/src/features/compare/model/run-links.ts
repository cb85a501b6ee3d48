/** Where links to runs lead. Pure. */
import type { Unit } from "@/lib/units";
import { MOST_RUNS } from "./state";

/** One run's page, or the comparison of several. */
export function runsPath(runs: readonly string[]): string {
  const [first] = runs;
  if (runs.length === 1 && first !== undefined) return `/runs/${first}`;
  return `/runs/compare?${runs
    .slice(0, MOST_RUNS)
    .map((run) => `run=${run}`)
    .join("&")}`;
}

const UNITS: readonly Unit[] = ["seconds", "bytes", "ratio", "count", "per_second", "bytes_per_second"];

/** A unit that charts know; anything else is written as a plain number. */
export function toUnit(unit: string): Unit {
  return UNITS.find((one) => one === unit) ?? "count";
}

/** Milliseconds tell nobody which run it was. */
export function wholeSecond(timeMs: number): number {
  return Math.floor(timeMs / 1000) * 1000;
}
