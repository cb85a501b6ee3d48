/** What a list of runs is filtered by, as an address holds it. Pure. */

import { FACTS } from "@/api/runs/facts.gen";
import type { FilterFact, RunState, Verdict } from "@/api/runs/types";

/** Facts that runs of a list can have alike. */
export const FILTER_FACTS = FACTS.filter((fact) => fact.kind === "text").filter((fact) => fact.facet !== "");

export type RunFilterName =
  | FilterFact
  | "tag"
  | "verdict"
  | "state"
  | "finding"
  | "actions"
  | "commit"
  | "since"
  | "until";
export const FILTERS: readonly RunFilterName[] = [
  ...FILTER_FACTS.map(({ name }) => name),
  ...(["tag", "verdict", "state", "finding", "actions", "commit", "since", "until"] as const),
];

type FilterValues = Readonly<Partial<Record<Exclude<RunFilterName, "verdict" | "state">, string>>> & {
  readonly verdict?: Verdict | "none";
  readonly state?: RunState;
};

export interface RunFilters {
  /** Words in the run's names, tags and parameters. */
  readonly q: string;
  readonly values: FilterValues;
  /** Terms of an older address that nothing here can hold. */
  readonly ignored: readonly string[];
}

export const VERDICTS = ["failed", "passed", "invalid", "none"] as const;
const STATES: readonly string[] = ["running", "finished", "aborted", "imported"];
const TERM = /(?:[^\s"]|"(?:\\.|[^"\\])*"?)+/gu;

/** Reads `name=value`; the text of older addresses (`where=scenario:checkout words`) counts where it says the same. */
export function decodeFilters(params: URLSearchParams): RunFilters {
  const values: Partial<Record<RunFilterName, string>> = {};
  const words = [params.get("q") ?? ""];
  const ignored: string[] = [];
  const take = (name: string, value: string) => {
    const known = FILTERS.find((one) => one === name);
    if (known === undefined || !isValue(known, value)) return false;
    if (values[known] === undefined) values[known] = value;
    else if (known === "tag") words.push(value);
    else return values[known] === value;
    return true;
  };
  for (const name of FILTERS) for (const value of params.getAll(name)) take(name, value);
  for (const [term] of (params.get("where") ?? "").matchAll(TERM)) {
    const [, name = "", value = ""] = /^([a-z_]+):(.+)$/su.exec(term) ?? [];
    const plain = (text: string) => text.replace(/^"|"$/gu, "").replace(/\\(["\\])/gu, "$1");
    if (take(name, plain(value))) continue;
    if (name === "name" || name === "id") words.push(plain(value));
    else if (name !== "" || (/^-|[<>!]/u.test(term) && !term.startsWith('"'))) ignored.push(term);
    else words.push(plain(term));
  }
  // `isValue` has looked at each.
  return { q: words.filter(Boolean).join(" "), values: values as FilterValues, ignored };
}

export function encodeFilters({ q, values }: RunFilters, params: URLSearchParams): void {
  for (const name of [...FILTERS, "q", "where", "period"]) params.delete(name);
  if (q.trim() !== "") params.set("q", q.trim());
  for (const name of FILTERS) if (values[name]) params.set(name, values[name]);
}

function isValue(name: RunFilterName, value: string): boolean {
  if (name === "verdict") return (VERDICTS as readonly string[]).includes(value);
  if (name === "actions") return value === "open";
  if (name === "state") return STATES.includes(value);
  if (name === "since" || name === "until") return /^\d{4}-\d{2}-\d{2}$/u.test(value);
  return value !== "";
}
