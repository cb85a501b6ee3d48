/** Where links to runs lead, and how a verdict looks. Pure. */
import type { Verdict } from "@/api/runs/types";
import type { Unit } from "@/lib/units";
import type { Tone } from "@/ui/state-mark";
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

export const VERDICT_TONES: Readonly<Record<Verdict, Tone>> = { passed: "ok", failed: "bad", invalid: "warn" };

const UNITS: readonly Unit[] = ["seconds", "bytes", "ratio", "count", "per_second", "bytes_per_second"];

/** A unit that charts know; anything else is written as a plain number. */
export function toUnit(unit: string): Unit {
  return UNITS.find((one) => one === unit) ?? "count";
}

/** Milliseconds tell nobody which run it was. */
export function wholeSecond(timeMs: number): number {
  return Math.floor(timeMs / 1000) * 1000;
}
