/** Which profiles belong together, what they are held against, and their values as people read them. Pure. */
import type { Profile, ProfileList, ProfileView } from "@/api/profiles/types";
import type { FlameData } from "@/charts/flame/flame-tree";
import type { Locale } from "@/lib/time/time";
import { formatValue, type Unit } from "@/lib/units";

/** What stands in the address in the place of a run's id. */
export const BASELINE = "base";

/** What the address names, which every picker changes. */
export interface Address {
  readonly kind: string;
  readonly of: string;
  readonly type: string;
  /** Empty, `BASELINE`, or the id of the run that it is held against. */
  readonly against: string;
  readonly set: (change: Readonly<Record<string, string | null>>) => void;
}

/** In the order in which they help: what a request waits for and what it costs come first. */
export const KINDS = ["cpu", "block", "mutex", "goroutine", "heap", "allocs"] as const;
export type KnownKind = (typeof KINDS)[number];

export function isKnownKind(kind: string): kind is KnownKind {
  return (KINDS as readonly string[]).includes(kind);
}

/** Profiles that are shown together. */
export interface Choice {
  /** `all`, or the id of the one profile. */
  readonly id: string;
  readonly profiles: readonly Profile[];
}

/** The kinds that a run has profiles of; those that this page does not know come last. */
export function kindsOf(profiles: readonly Profile[]): string[] {
  const rank = (kind: string) => (isKnownKind(kind) ? KINDS.indexOf(kind) : KINDS.length);
  return [...new Set(profiles.map(({ kind }) => kind))].sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
}

/** What can be chosen of a kind: all processes together where there are several, then each profile by itself. */
export function choicesOf(profiles: readonly Profile[], kind: string): Choice[] {
  const those = profiles.filter((one) => one.kind === kind);
  const together = ownOf(those);
  const each = those.map((one) => ({ id: one.id, profiles: [one] }));
  return together.length > 1 ? [{ id: "all", profiles: together }, ...each] : each;
}

/** Of the baseline what a choice is held against: the same process, else all of the kind. */
export function baseOf(list: ProfileList, choice: Choice): readonly Profile[] {
  const [first] = choice.profiles;
  if (list.base === null || first === undefined) return [];
  const those = list.base.profiles.filter(({ kind }) => kind === first.kind);
  const own = ownOf(those);
  const all = (own.length > 0 ? own : those).slice(0, MOST_FILES);
  if (choice.id === "all") return all;
  const same = all.filter(({ job, instance }) => job === first.job && instance === first.instance && job !== "");
  return same.length > 0 ? same : all;
}

/** The server puts no more into one view. */
const MOST_FILES = 20;

/** The one of each process that the run was profiled by itself. */
function ownOf(profiles: readonly Profile[]): readonly Profile[] {
  return profiles.filter(({ cause }) => cause === "run").slice(0, MOST_FILES);
}

/** A value in the unit that the profile counts in. */
export function formatOf(unit: string, locale: Locale): (value: number) => string {
  const [factor, known] = UNITS[unit] ?? [1, "count" as const];
  return (value) => formatValue(value * factor, known, locale);
}

const UNITS: Readonly<Record<string, readonly [number, Unit]>> = {
  nanoseconds: [1e-9, "seconds"],
  microseconds: [1e-6, "seconds"],
  milliseconds: [1e-3, "seconds"],
  seconds: [1, "seconds"],
  bytes: [1, "bytes"],
  kilobytes: [1024, "bytes"],
  megabytes: [1024 * 1024, "bytes"],
};

/** A difference with its sign. */
export function signed(value: number, format: (value: number) => string): string {
  if (value === 0) return "±0";
  return `${value > 0 ? "+" : "−"}${format(Math.abs(value))}`;
}

/** How much more or less, in whole per cent; null where there was nothing before. */
export function growth(value: number, base: number): number | null {
  return base > 0 ? Math.round((100 * (value - base)) / base) : null;
}

export function flameData(view: ProfileView, root: string): FlameData {
  const { tree } = view;
  return {
    names: [root, ...tree.names.slice(1)],
    func: tree.func,
    parent: tree.parent,
    value: tree.value,
    base: tree.base,
  };
}

export type FunctionField = "name" | "flat" | "cum" | "change";
type Row = ProfileView["functions"][number];

/** What has changed of a function: by what it took itself, where that is something, else with all it called. */
export function changeOf(row: Row): number {
  const own = row.flat - (row.base_flat ?? 0);
  return own !== 0 ? own : row.cum - (row.base_cum ?? 0);
}

export function sortFunctions(rows: readonly Row[], field: FunctionField, descending: boolean): Row[] {
  const sign = descending ? -1 : 1;
  const size = (row: Row) =>
    field === "change" ? Math.abs(row.flat - (row.base_flat ?? 0)) : Math.abs(field === "cum" ? row.cum : row.flat);
  return [...rows].sort((a, b) =>
    field === "name" ? sign * a.name.localeCompare(b.name) : sign * (size(a) - size(b)) || b.cum - a.cum,
  );
}

export function filterFunctions(rows: readonly Row[], text: string): readonly Row[] {
  const wanted = text.trim().toLowerCase();
  return wanted === "" ? rows : rows.filter(({ name }) => name.toLowerCase().includes(wanted));
}
