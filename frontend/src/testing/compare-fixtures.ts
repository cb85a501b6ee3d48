/** Small documents as the server answers them. */
import type { CompareCell, CompareGroup, CompareRow, Comparison } from "@/api/compare/types";
import type { RunLine } from "@/api/runs/types";

export function cell(part: Partial<CompareCell> = {}): CompareCell {
  return {
    ...{ value: 1, low: 0.9, high: 1.1, per_run: [1], spread: null, delta: null, delta_low: null, delta_high: null },
    ...{ p_value: null, opinion: "neutral", grade: null, remark: "" },
    ...part,
  };
}

export function row(id: string, cells: readonly CompareCell[]): CompareRow {
  const metric = { id, title: id.toUpperCase(), unit: "seconds", orientation: "more_is_worse", help: "" };
  return { metric, margin: 0.05, cells: [...cells] };
}

export function group(id: string, runs: readonly string[], isBase = false): CompareGroup {
  return { id, label: `group ${id}`, runs: [...runs], is_base: isBase };
}

export function run(id: string, part: Partial<RunLine> = {}): RunLine {
  return {
    ...{ id, name: "", scenario: "ingest", scenario_version: "v1", tool: "vegeta", state: "finished", silent: false },
    ...{ verdict: null, is_baseline: false, started_ms: 0, ended_ms: 60_000, target_rate: 100, parameters: {} },
    ...{ commit: "", branch: "main", dirty: null, tags: [], author: "", requests: 6000, rate: 100 },
    ...{ success_ratio: 1, p95_seconds: 0.1, sparkline: [], p95_sparkline: [], first_limit: null, reviewed: false },
    ...part,
  };
}

export function comparison(part: Partial<Comparison> = {}): Comparison {
  return {
    ...{
      align: "start",
      headlines: [],
      runs: [],
      groups: [],
      from_seconds: -5,
      step_seconds: 1,
      count: 66,
      series: [],
      rows: [],
    },
    ...{ endpoints: [], configuration: [], remarks: [], repeats: [] },
    ...part,
  };
}
