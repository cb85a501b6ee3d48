/** What can be chosen for a sweep or a trend, learnt from the runs of a scenario. Pure. */
import type { MetricInfo } from "@/api/compare/types";
import type { RunLine } from "@/api/runs/types";

const NUMBER = /^[+-]?[\d.,_]+\s*(KiB|MiB|GiB|ms|us|%|s|m|k|M)?$/;

export interface SweptParameter {
  readonly key: string;
  /** How many different numbers it has. */
  readonly values: number;
}

/** Parameters with numbers, the most varied first. */
export function sweptParameters(runs: readonly RunLine[], version: string | null): readonly SweptParameter[] {
  const found = new Map<string, Set<string>>();
  for (const run of runs) {
    if (version !== null && run.scenario_version !== version) continue;
    for (const [key, text] of Object.entries(run.parameters)) {
      if (!NUMBER.test(text.trim())) continue;
      const values = found.get(key) ?? new Set();
      found.set(key, values.add(text.trim()));
    }
  }
  return [...found]
    .map(([key, values]) => ({ key, values: values.size }))
    .sort((a, b) => b.values - a.values || (a.key < b.key ? -1 : 1));
}

/** Versions of a scenario in the order in which they first ran. */
export function scenarioVersions(runs: readonly RunLine[]): readonly string[] {
  const oldest = [...runs].sort((a, b) => a.started_ms - b.started_ms);
  return [...new Set(oldest.map(({ scenario_version }) => scenario_version).filter((version) => version !== ""))];
}

/** Result figures and signals apart, as a select takes them. */
export function metricOptions(metrics: readonly MetricInfo[], load: string, signals: string, routes: string) {
  const option = ({ id, title }: MetricInfo) => ({ value: id, label: title });
  const partOf = ({ id }: MetricInfo) => /^(?:signal|route):/.exec(id)?.[0] ?? "";
  const items = (part: string) => metrics.filter((one) => partOf(one) === part).map(option);
  return [
    { group: load, items: items("") },
    { group: routes, items: items("route:") },
    { group: signals, items: items("signal:") },
  ].filter(({ items }) => items.length > 0);
}
