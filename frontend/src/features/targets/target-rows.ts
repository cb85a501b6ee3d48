/** Rows of the targets table: one per collector. Sorting and filtering, pure. */
import type { Target } from "@/api/types";

export type Health = "up" | "down" | "unknown" | "gone";

export interface TargetRow {
  readonly key: string;
  readonly job: string;
  readonly instance: string;
  readonly collector: string;
  readonly health: Health;
  readonly lag: number | null;
  readonly duration: number | null;
  readonly cpu: number | null;
  readonly samples: number | null;
  readonly error: string | null;
  /** Agents that read it at this moment; two are one too many. */
  readonly agents: readonly string[];
  /** Who said that it was not taken away. */
  readonly keptBy: string | null;
}

export type SortField = "health" | "job" | "instance" | "collector" | "lag" | "duration" | "cpu" | "samples";

export interface Sort {
  readonly field: SortField;
  readonly descending: boolean;
}

/** What needs attention first. */
export const DEFAULT_SORT: Sort = { field: "health", descending: false };
const URGENCY: Readonly<Record<Health, number>> = { down: 0, unknown: 1, up: 2, gone: 3 };

export function targetRows(targets: readonly Target[]): readonly TargetRow[] {
  return targets.flatMap(({ job, instance, collectors, gone, kept_by }) =>
    collectors.map(
      (one): TargetRow => ({
        key: JSON.stringify([job, instance, one.collector]),
        job,
        instance,
        collector: one.collector,
        health: one.up === null ? (gone ? "gone" : "unknown") : one.up ? "up" : "down",
        lag: one.lag_seconds,
        duration: one.duration_seconds,
        cpu: one.cpu_ratio,
        samples: one.samples,
        error: one.error,
        agents: one.agents,
        keptBy: kept_by,
      }),
    ),
  );
}

export function filterRows(rows: readonly TargetRow[], text: string, health: Health | null): readonly TargetRow[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter((row) => {
    if (health !== null && row.health !== health) return false;
    const hay = `${row.job} ${row.instance} ${row.collector} ${row.error ?? ""} ${row.agents.join(" ")}`.toLowerCase();
    return words.every((word) => hay.includes(word));
  });
}

/** Rows without a value stand last in either direction. */
export function sortRows(rows: readonly TargetRow[], sort: Sort): readonly TargetRow[] {
  const sign = sort.descending ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [first, second] = [sortValue(a, sort.field), sortValue(b, sort.field)];
    if (first === null || second === null) return Number(first === null) - Number(second === null) || byName(a, b);
    const order = typeof first === "string" ? first.localeCompare(String(second)) : first - Number(second);
    return sign * order || byName(a, b);
  });
}

function sortValue(row: TargetRow, field: SortField): string | number | null {
  return field === "health" ? URGENCY[row.health] : row[field];
}

function byName(a: TargetRow, b: TargetRow): number {
  return a.job.localeCompare(b.job) || a.instance.localeCompare(b.instance) || a.collector.localeCompare(b.collector);
}
