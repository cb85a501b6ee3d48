/** Findings as the server says them, with as much as a test wants to say itself. */
import type { Diagnosis, Evidence, Finding, Headline, Missing } from "@/api/findings/types";

const both = (en: string, ja = en) => ({ en, ja });

export function evidence(part: Partial<Evidence> = {}): Evidence {
  return {
    ...{ text: both("30 of 30 connections in use."), link: "limit", expression: "go_sql_in_use_connections" },
    ...{
      unit: "count",
      at_ms: 3000,
      value: 30,
      limit: 30,
      chart: { start_ms: 0, step_ms: 1000, values: [10, null, 30] },
    },
    ...part,
  };
}

export function finding(key: string, part: Partial<Finding> = {}): Finding {
  return {
    ...{ id: key, key, title: both(`title of ${key}`), sentence: both(`${key} ran out.`, `${key}が枯渇。`) },
    ...{ severity: "critical", certainty: "certain", from_ms: 2000, to_ms: 9000, labels: { instance: "app" } },
    ...{
      because_of: [],
      instances: [],
      mark: null,
      muted: false,
      began_earlier: false,
      before_run: false,
      resource: "",
      evidence: [evidence()],
      explanation: both("why"),
      refuted_by: both("counter-example"),
    },
    ...{ steps: [{ text: both("Raise it."), code: "db.SetMaxOpenConns(40)" }] },
    rule_of_thumb: { text: both("rule"), source: "book" },
    ...part,
  };
}

export function missing(id: string, config: string): Missing {
  return { id, title: both(`title of ${id}`), needs: [`${id}_metric`], config, usual: true };
}

export function diagnosis(part: Partial<Diagnosis> = {}): Diagnosis {
  return {
    ...{ state: "found", engine: 1, said_ms: 90_000, from_ms: 0, to_ms: 10_000, observations: [], missing: [] },
    checked: [{ id: "pool-churn", title: both("churn"), text: both("2 closed.") }],
    ...part,
  };
}

/** What the server says first: the finding, or that there is none. */
export function headline(first?: Finding, more = 0): Headline {
  const none = { kind: "none" as const, title: both("No limit did harm"), text: both("1 checks."), more };
  const rest = { key: "", began_earlier: false, instance: "", resource: "" };
  if (first === undefined) return { ...none, ...rest };
  const { key, title, sentence, severity, certainty, from_ms, began_earlier, resource } = first;
  const found = { key, title, text: sentence, severity, certainty, from_ms, began_earlier, resource, more };
  return { ...rest, kind: "found", ...found };
}
