/** How alerts are ranked, grouped and written. Pure. */
import type { Alert, Rule } from "@/api/alerts/types";
import type { Locale } from "@/lib/time/time";
import { inHeldOrder } from "@/ui/list/held-order";

/** How much an alert matters; teams name severities differently. */
export type Gravity = "critical" | "warning" | "info" | "none";

export const GRAVITIES = ["critical", "warning", "info", "none"] as const;

const WORDS: Readonly<Record<string, Gravity>> = {
  critical: "critical",
  page: "critical",
  emergency: "critical",
  fatal: "critical",
  disaster: "critical",
  high: "critical",
  error: "critical",
  p1: "critical",
  warning: "warning",
  warn: "warning",
  ticket: "warning",
  medium: "warning",
  average: "warning",
  p2: "warning",
  p3: "warning",
  info: "info",
  information: "info",
  notice: "info",
  low: "info",
  p4: "info",
  p5: "info",
};

/** What a `severity` label stands for; an unknown word counts as a warning, for it was meant to say something. */
export function gravityOf(severity: string): Gravity {
  if (severity === "") return "none";
  return WORDS[severity.toLowerCase()] ?? "warning";
}

const rank = (severity: string) => GRAVITIES.indexOf(gravityOf(severity));

export interface AlertGroup {
  readonly id: string;
  readonly name: string;
  /** Of the gravest among them, the others after it; of an incident the alert that stands for it. */
  readonly alerts: readonly Alert[];
  /** Of the same incident. */
  readonly others: readonly Alert[];
}

/**
 * Alerts of one incident together, and else those of one name; the gravest first, then those that began last. Those in
 * `held` keep that order, and what came since stands in groups of its own after them.
 */
export function groupAlerts(alerts: readonly Alert[], held: readonly string[] | null = null): readonly AlertGroup[] {
  const sorted = sortAlerts(alerts);
  if (held === null) return grouped(sorted);
  const known = new Set(held);
  const before = inHeldOrder(sorted, held, ({ id }) => id).filter(({ id }) => known.has(id));
  const since = grouped(sorted.filter(({ id }) => !known.has(id)));
  return [...grouped(before), ...since.map((group) => ({ ...group, id: `since ${group.id}` }))];
}

/** The gravest first, then those that began last. */
export function sortAlerts(alerts: readonly Alert[]): readonly Alert[] {
  return alerts.toSorted(
    (a, b) => quietRank(a) - quietRank(b) || rank(a.severity) - rank(b.severity) || b.active_ms - a.active_ms,
  );
}

function grouped(sorted: readonly Alert[]): readonly AlertGroup[] {
  const groups = new Map<string, { name: string; alerts: Alert[]; others: readonly Alert[] }>();
  for (const { id, head, others } of mattersOf(sorted)) {
    const key = others.length > 0 ? `incident ${id}` : `name ${head.name}`;
    const held = groups.get(key);
    if (held === undefined) groups.set(key, { name: head.name, alerts: [head], others });
    else held.alerts.push(head);
  }
  return [...groups].map(([id, group]) => ({ id, ...group }));
}

/** One matter of a list: the alert that stands for it, and the others of its incident. */
export interface Matter {
  readonly id: string;
  readonly head: Alert;
  /** In the order of the list. */
  readonly others: readonly Alert[];
}

/** Alerts by their incidents, each at the place of the first of its alerts. */
export function mattersOf(alerts: readonly Alert[]): readonly Matter[] {
  const found = new Map<string, Alert[]>();
  for (const alert of alerts) {
    const held = found.get(alert.incident.id);
    if (held === undefined) found.set(alert.incident.id, [alert]);
    else held.push(alert);
  }
  return [...found].flatMap(([id, members]) => {
    const head = members.find((one) => one.id === one.incident.head) ?? members[0];
    return head === undefined ? [] : [{ id, head, others: members.filter((one) => one !== head) }];
  });
}

/** An episode shows from the moment it fired. */
export function beginOf(alert: Pick<Alert, "fired_ms" | "active_ms">): number {
  return alert.fired_ms ?? alert.active_ms;
}

/** From the first of an incident's alerts to the end of the last; null while one fires. */
export function spanOf({ head, others }: Matter): { readonly startMs: number; readonly endMs: number | null } {
  const all = [head, ...others];
  const ends = all.map(({ resolved_ms }) => resolved_ms);
  return {
    startMs: Math.min(...all.map(beginOf)),
    endMs: ends.includes(null) ? null : Math.max(...ends.map((end) => end ?? 0)),
  };
}

/** What somebody looks at already, or chose not to hear, stands after what nobody has seen. */
const quietRank = (alert: Alert) => (isQuiet(alert) || alert.acknowledged !== null ? 1 : 0);

/** Whether nobody is told of it at present. */
export function isQuiet(alert: Pick<Alert, "silenced_by" | "inhibited_by" | "muted">): boolean {
  return alert.silenced_by.length > 0 || alert.inhibited_by.length > 0 || alert.muted;
}

const UNSHOWN: ReadonlySet<string> = new Set(["alertname", "severity", "run"]);

/** The labels that tell this alert from others of its rule. */
export function tellingLabels(labels: Readonly<Record<string, string>>): readonly (readonly [string, string])[] {
  return Object.entries(labels)
    .filter(([name]) => !UNSHOWN.has(name))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** `job="mysql", instance="db-1"`, for a name that is read out. */
export function labelText(labels: Readonly<Record<string, string>>): string {
  return tellingLabels(labels)
    .map(([name, value]) => `${name}="${value}"`)
    .join(", ");
}

const ANNOTATIONS_SHOWN: ReadonlySet<string> = new Set([
  "summary",
  "description",
  "runbook_url",
  "finding",
  "finding_id",
  "finding_certainty",
]);

/** Annotations that the page does not show in a place of their own. */
export function otherAnnotations(
  annotations: Readonly<Record<string, string>>,
): readonly (readonly [string, string])[] {
  return Object.entries(annotations)
    .filter(([name]) => !ANNOTATIONS_SHOWN.has(name) && !name.startsWith("loadwatch_"))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}

type Translations = Readonly<Partial<Record<Locale, Readonly<Record<string, string>>>>>;

/** A text of an alert or rule in the page's language, where its rule gives it; else as it was written. */
export function textOf(
  given: { readonly annotations: Readonly<Record<string, string>>; readonly translations: Translations },
  name: "summary" | "description" | "runbook_url",
  locale: Locale,
): string {
  return given.translations[locale]?.[name] ?? given.annotations[name] ?? "";
}

/** Only web addresses and paths become links; a rule file is not trusted with `javascript:`. */
export function safeLink(url: string): string | null {
  const trimmed = url.trim();
  if (/^https?:\/\//i.test(trimmed) && URL.canParse(trimmed)) return trimmed;
  // Browsers read a backslash as a slash, and leave out line feeds and tabs.
  return /^\/(?![/\\])/.test(trimmed) && !/[\n\r\t]/.test(trimmed) ? trimmed : null;
}

/** Rules whose name, expression, labels or summary hold every word. */
export function rulesFound(rules: readonly Rule[], search: string): readonly Rule[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rules;
  return rules.filter((rule) => {
    const text = [rule.name, rule.expression, ...Object.values(rule.annotations), ...Object.values(rule.labels)]
      .join(" ")
      .toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** Groups with something to look at come first; the others stay in the order of their files. */
export function groupRank(rules: readonly Rule[]): number {
  return Math.min(...rules.map(ruleRank));
}

/** A rule's place in a list that begins with what asks for attention: broken, firing, pending, the rest. */
export function ruleRank(rule: Rule): number {
  if (rule.health === "error") return 0;
  return rule.state === "firing" ? 1 : rule.state === "pending" ? 2 : 3;
}
