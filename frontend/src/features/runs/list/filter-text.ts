/** The text that a list of runs is filtered by, as far as the page must know it: its terms and what completes them. */

import { FACTS } from "@/api/runs/facts.gen";
import type { FilterFact, RunFacets } from "@/api/runs/types";

/** Facts that runs of a list can have alike. */
export const FILTER_FACTS = FACTS.filter((fact) => fact.kind === "text").filter((fact) => fact.facet !== "");

export const FIGURES = ["p95", "rate", "target", "success", "requests", "duration"] as const;
const KEYS = ["verdict", "limit", "tag", "since", "until", "state", "commit", "version", "name", "id"] as const;
const CHOICES: Readonly<Record<string, readonly string[]>> = {
  verdict: ["failed", "passed", "invalid", "none"],
  state: ["running", "finished", "aborted", "imported"],
  since: ["1h", "1d", "7d", "30d", "90d"],
  limit: ["none", "cannot-tell"],
};

/** The term that the caret stands in. */
export interface Token {
  readonly start: number;
  readonly end: number;
  /** With its minus, as far as it is the term's name; the whole of a word. */
  readonly name: string;
  /** `:` or an operator; empty where there is none yet. */
  readonly sign: string;
  readonly value: string;
}

const TERM = /(?:[^\s"]|"(?:\\.|[^"\\])*"?)+/gu;
const PARTS = /^(-?[^\s:<>=!"]*)(:|[<>]=?|!=|=)?(.*)$/su;

export function tokenAt(text: string, caret: number): Token {
  for (const found of text.matchAll(TERM)) {
    const end = found.index + found[0].length;
    if (found.index > caret || end < caret) continue;
    const [, name = "", sign = "", value = ""] = PARTS.exec(found[0]) ?? [];
    return { start: found.index, end, name, sign, value };
  }
  return { start: caret, end: caret, name: "", sign: "", value: "" };
}

/** A value as a term holds it: in quotes where it would end early or mean something else. */
export function quoted(value: string): string {
  return /^[^\s"]+$/u.test(value) ? value : `"${value.replace(/["\\]/gu, "\\$&")}"`;
}

/** A word as a term; one with signs of the language in it is quoted. */
export function wordTerm(word: string): string {
  return /^[^\s"\-:<>=!][^\s":<>=!]*$/u.test(word) ? word : `"${word.replace(/["\\]/gu, "\\$&")}"`;
}

export interface Suggestion {
  /** The whole term, or its beginning where a value follows. */
  readonly text: string;
  readonly isWhole: boolean;
  /** How many runs have it. */
  readonly count: number | null;
}

const MOST = 12;

/** What may stand where the caret is, the likeliest first; nothing where only a number helps. */
export function suggestions(
  token: Token,
  facets: RunFacets | undefined,
  limits: readonly string[],
): readonly Suggestion[] {
  const minus = token.name.startsWith("-") ? "-" : "";
  const name = token.name.slice(minus.length);
  if (token.sign === "") {
    const begins = (text: string) => text.toLowerCase().startsWith(name.toLowerCase());
    const parameters = (facets?.parameters ?? []).map(({ value }) => value).filter((one) => !/[\s:<>=!"]/u.test(one));
    const figures: readonly string[] = FIGURES;
    const names = [
      ...[...FILTER_FACTS.map((fact): string => fact.name), ...KEYS].map((key) => `${key}:`),
      ...parameters.map((one) => (figures.includes(one) ? `param.${one}>` : `${one}>`)),
      ...figures.map((one) => `${one}>`),
    ];
    return names
      .filter(begins)
      .slice(0, MOST)
      .map((text) => ({ text: minus + text, isWhole: false, count: null }));
  }
  if (token.sign !== ":") return [];
  const typed = token.value.replace(/^"|"$/gu, "").toLowerCase();
  return valuesOf(name, facets, limits)
    .filter(({ value }) => value.toLowerCase().includes(typed))
    .slice(0, MOST)
    .map(({ value, count }) => ({ text: `${minus}${name}:${quoted(value)}`, isWhole: true, count }));
}

interface Counted {
  readonly value: string;
  readonly count: number | null;
}

function valuesOf(key: string, facets: RunFacets | undefined, limits: readonly string[]): readonly Counted[] {
  if (key === "tag") return facets?.tags ?? [];
  const fact = FILTER_FACTS.find(({ name }) => name === key);
  if (fact !== undefined) return facets?.[fact.facet] ?? [];
  const choices = [...(key === "limit" ? limits : []), ...(CHOICES[key] ?? [])];
  return choices.map((value) => ({ value, count: null }));
}

/** The text with the term replaced; a whole one is followed by a space, so that the next can be typed. */
export function completed(text: string, token: Token, chosen: Suggestion): { text: string; caret: number } {
  const after = text.slice(token.end);
  const put = chosen.isWhole && !/^\s/u.test(after) ? `${chosen.text} ` : chosen.text;
  const caret = token.start + put.length + (chosen.isWhole && /^\s/u.test(after) ? 1 : 0);
  return { text: text.slice(0, token.start) + put + after, caret };
}

/** Whether the term being typed is a plain word, which may be looked for as it grows. */
export function isPlain({ sign, name }: Token): boolean {
  return sign === "" && !name.startsWith("-");
}

/** Filters as addresses of before held them: one parameter each. */
export const OLD_FILTERS: readonly (FilterFact | "q" | "commit" | "state" | "verdict" | "tag" | "period")[] = [
  ...FILTER_FACTS.map(({ name }) => name),
  ...(["commit", "state", "verdict", "period", "tag", "q"] as const),
];

/** The same as text; what they do not know counts as not said, as it did. */
export function textOfOld(params: URLSearchParams): string {
  return OLD_FILTERS.flatMap((name) =>
    params.getAll(name).flatMap((value) => {
      if (value === "") return [];
      if (name === "q") return value.split(/\s+/u).filter(Boolean).map(wordTerm);
      const choices = name === "period" ? CHOICES.since : name === "tag" ? undefined : CHOICES[name];
      if (choices !== undefined && !choices.includes(value)) return [];
      return [`${name === "period" ? "since" : name}:${quoted(value)}`];
    }),
  ).join(" ");
}
