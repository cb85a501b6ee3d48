/** Configuration as a reader wants it: the deliberate first, the rest on demand. Pure. */
import { formatMeasure } from "@/lib/run-text";
import type { Locale } from "@/lib/time/time";

interface Change {
  readonly deliberate: boolean;
  readonly important: boolean;
}

export interface ChangeGroups<T> {
  /** Somebody set it. */
  readonly deliberate: readonly T[];
  /** It moved by itself and may matter, such as a table's size. */
  readonly drift: readonly T[];
  readonly rest: readonly T[];
}

export function changeGroups<T extends Change>(changes: readonly T[]): ChangeGroups<T> {
  return {
    deliberate: changes.filter((change) => change.deliberate),
    drift: changes.filter((change) => !change.deliberate && change.important),
    rest: changes.filter((change) => !change.deliberate && !change.important),
  };
}

interface Setting {
  readonly target: string;
  readonly section: string;
  readonly key: string;
  readonly value: string;
  readonly unit: string;
}

export interface SettingRow {
  readonly target: string;
  readonly section: string;
  readonly key: string;
  readonly unit: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** One row per fact with its value before and after the run. */
export function settingRows(before: readonly Setting[], after: readonly Setting[]): readonly SettingRow[] {
  const rows = new Map<string, SettingRow>();
  const keyOf = ({ target, section, key }: Setting) => JSON.stringify([target, section, key]);
  for (const one of before) rows.set(keyOf(one), { ...fact(one), before: one.value, after: null });
  for (const one of after) {
    const held = rows.get(keyOf(one));
    rows.set(keyOf(one), { ...(held ?? { ...fact(one), before: null }), after: one.value });
  }
  return [...rows.values()];
}

function fact({ target, section, key, unit }: Setting) {
  return { target, section, key, unit };
}

export function filterSettings(rows: readonly SettingRow[], text: string): readonly SettingRow[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter((row) => {
    const hay = `${row.target} ${row.section} ${row.key} ${row.before ?? ""} ${row.after ?? ""}`.toLowerCase();
    return words.every((word) => hay.includes(word));
  });
}

/** A setting's value as people read it: numbers grouped and with their unit, everything else as it is. */
export function settingText(value: string, unit: string, locale: Locale): string {
  if (!/^-?\d+(\.\d+)?$/.test(value)) return unit === "" ? value : `${value} ${unit}`;
  if (unit === "bytes" || unit === "ratio" || unit === "seconds") return formatMeasure(Number(value), unit, locale);
  const [whole = "", fraction] = value.split(".");
  const grouped = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",") : whole;
  const text = fraction === undefined ? grouped : `${grouped}.${fraction}`;
  return unit === "" || unit === "count" ? text : `${text} ${unit}`;
}
