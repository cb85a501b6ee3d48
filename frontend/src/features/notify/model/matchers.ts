/** Matchers and labels as people type them. Pure. */
import type { components } from "@/api/schema.gen";

export type Matcher = components["schemas"]["MatcherDocument"];
export type MatchOperator = components["schemas"]["MatchOperatorName"];

export const OPERATORS: readonly MatchOperator[] = ["=", "!=", "=~", "!~"];

const NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
const ONE = /^\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*(=~|!~|!=|=)\s*(.*?)\s*$/s;
const QUOTED = /^"((?:[^"\\]|\\.)*)"$/s;

export function isLabelName(text: string): boolean {
  return NAME.test(text);
}

/** Reads `severity=~"page|warn"` or `severity=page`; null when it is no matcher. */
export function parseMatcher(text: string): Matcher | null {
  const [, name, operator, value] = ONE.exec(text) ?? [];
  if (name === undefined || value === undefined) return null;
  const quoted = QUOTED.exec(value)?.[1];
  if (quoted === undefined && value.startsWith('"')) return null;
  return { name, operator: operator as MatchOperator, value: quoted === undefined ? value : unescapeText(quoted) };
}

/** Writes a matcher as Prometheus does: `severity="page"`. */
export function formatMatcher({ name, operator, value }: Matcher): string {
  return `${name}${operator}"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}

function unescapeText(text: string): string {
  return text.replace(/\\(.)/gs, (_, letter: string) => (letter === "n" ? "\n" : letter));
}

export interface LabelsRead {
  readonly labels: Readonly<Record<string, string>>;
  /** Lines that are no labels. */
  readonly problems: readonly string[];
}

const PAIR = /([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"/g;

/** Reads labels, one `name=value` a line, or pasted as `{name="value", …}`. */
export function parseLabels(text: string): LabelsRead {
  const labels: Record<string, string> = {};
  const problems: string[] = [];
  for (const raw of text.split("\n")) {
    const line = raw.trim();
    if (line === "") continue;
    const rest = line.replace(PAIR, (_, name: string, value: string) => {
      labels[name] = unescapeText(value);
      return "";
    });
    if (rest !== line && /^[\s{},]*$/.test(rest)) continue;
    const at = line.indexOf("=");
    const name = line.slice(0, Math.max(0, at)).trim();
    if (at > 0 && isLabelName(name) && rest === line) labels[name] = line.slice(at + 1).trim();
    else problems.push(line);
  }
  return { labels, problems };
}

export function formatLabels(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => (/["\n]/.test(value) ? formatMatcher({ name, operator: "=", value }) : `${name}=${value}`))
    .join("\n");
}
