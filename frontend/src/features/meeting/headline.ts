/** What one screen of the meeting says, and where the meeting stands. Pure. */
import type { Threshold } from "@/api/runs/types";

/** Thresholds, those that failed first. */
export function sortedThresholds(thresholds: readonly Threshold[]): readonly Threshold[] {
  const rank = { failed: 0, unknown: 1, passed: 2 } as const;
  return [...thresholds].sort((a, b) => rank[a.state] - rank[b.state]);
}

/** Where the meeting stands: a run of the list, or its end. */
export interface Place {
  readonly index: number;
  readonly count: number;
}

/** From the address: `end`, a run's id, or nothing. */
export function placeOf(runs: readonly string[], at: string | null): Place {
  const count = runs.length;
  if (at === "end") return { index: count, count };
  const found = at === null ? 0 : runs.indexOf(at);
  return { index: Math.max(0, found), count };
}

export function addressOf(runs: readonly string[], index: number): string {
  return runs[Math.max(0, index)] ?? "end";
}

export interface ScenarioChoice {
  readonly scenario: string;
  readonly count: number;
}

/** Scenarios of the meeting's runs, by name; runs without one are in none. */
export function scenariosOf(scenarios: readonly string[]): readonly ScenarioChoice[] {
  const counts = new Map<string, number>();
  for (const scenario of scenarios) if (scenario !== "") counts.set(scenario, (counts.get(scenario) ?? 0) + 1);
  return [...counts]
    .map(([scenario, count]) => ({ scenario, count }))
    .toSorted((a, b) => a.scenario.localeCompare(b.scenario));
}
