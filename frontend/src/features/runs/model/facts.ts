/** The form of what people say of a run: fields as they are typed, and what of them goes to the server. Pure. */
import { FACTS } from "@/api/runs/facts.gen";
import type { Run, RunLink, RunPatch } from "@/api/runs/types";
import type { ImportFacts } from "@/api/runs/upload";

export type TypedFact = Extract<(typeof FACTS)[number], { readonly typed: true }>;

/** Lists as they are, all else as its text; of links one address a line, a title may follow it. */
export type FactsDraft = {
  readonly [F in TypedFact as F["name"]]: F["kind"] extends "texts" ? readonly string[] : string;
};

export type FactValues = Pick<Run, TypedFact["name"]>;

const TYPED = FACTS.filter((fact) => fact.typed);

/** What of the form stands side by side. */
const LAYOUT: readonly (readonly TypedFact["name"][])[] = [
  ["name"],
  ["scenario", "scenario_version"],
  ["commit", "branch"],
  ["target_rate", "author"],
  ["thresholds"],
  ["tags"],
  ["links"],
];

/** Facts that have no place of their own, neither in the form nor on the page. */
export const OTHER_FACTS = TYPED.filter(({ name }) => !LAYOUT.some((row) => row.includes(name)));

/** Rows of the form; an import does not take all of them. */
export function factRows(importing: boolean): readonly (readonly TypedFact[])[] {
  const rows = [
    ...LAYOUT.map((row) => row.flatMap((one) => TYPED.filter(({ name }) => name === one))),
    ...OTHER_FACTS.map((fact) => [fact]),
  ];
  return rows.map((row) => row.filter(({ query }) => !importing || query !== "")).filter((row) => row.length > 0);
}

/** A fact as it is typed; nothing of a run that is still to be is known. */
export function factDraft(fact: TypedFact, run: Partial<FactValues>): string | readonly string[] {
  switch (fact.kind) {
    case "text":
      return run[fact.name] ?? "";
    case "number":
      return String(run[fact.name] ?? "");
    case "texts":
      return (run[fact.name] ?? []).map((one) => (typeof one === "string" ? one : one.expression));
    case "links":
      return (run[fact.name] ?? []).map(({ url, title }) => (title === "" ? url : `${url} ${title}`)).join("\n");
  }
}

export function factsOf(run: Partial<FactValues>): FactsDraft {
  return Object.fromEntries(TYPED.map((fact) => [fact.name, factDraft(fact, run)])) as FactsDraft;
}

export const EMPTY_FACTS = factsOf({});

/** A rate as typed: `600`, `1.5k`; undefined when it is none, null when the field is empty. */
export function readRate(text: string): number | null | undefined {
  const match = /^\s*(\d+(?:[.,]\d+)?)\s*([kM]?)\s*(?:\/s|rps)?\s*$/.exec(text);
  if (text.trim() === "") return null;
  if (match === null) return undefined;
  const factor = { "": 1, k: 1e3, M: 1e6 }[match[2] ?? ""] ?? 1;
  return Number((match[1] ?? "").replace(",", ".")) * factor;
}

export function readLinks(text: string): RunLink[] | undefined {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  const links = lines.map((line) => {
    const [url = "", ...words] = line.split(/\s+/);
    return { url, title: words.join(" ") };
  });
  return links.every(({ url }) => /^https?:\/\/\S+$/.test(url)) ? links : undefined;
}

/** What is sent of a fact; undefined when it cannot be read. */
function readFact(fact: TypedFact, facts: FactsDraft) {
  switch (fact.kind) {
    case "text":
      return facts[fact.name].trim();
    case "number":
      return readRate(facts[fact.name]);
    case "texts":
      return [...facts[fact.name]];
    case "links":
      return readLinks(facts[fact.name]);
  }
}

/** Fields that cannot be sent as they are. */
export function factsProblems(facts: FactsDraft): readonly TypedFact["name"][] {
  return TYPED.filter((fact) => readFact(fact, facts) === undefined).map(({ name }) => name);
}

/** The body of a change; only what differs, so that a field that somebody else changes meanwhile stays. */
export function factsPatch(before: FactsDraft, after: FactsDraft): RunPatch {
  const changed = TYPED.filter(({ name }) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return Object.fromEntries(changed.map((fact) => [fact.name, readFact(fact, after)]));
}

/** What an import is told beside its file; empty fields are left to the file. */
export function importFacts(facts: FactsDraft): ImportFacts {
  return Object.fromEntries(
    TYPED.filter(({ query }) => query !== "")
      .map((fact) => [fact.query, readFact(fact, facts)] as const)
      .filter(([, value]) => value !== undefined && value !== null && [value].flat().join("") !== ""),
  );
}
