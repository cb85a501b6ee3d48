/** Which groups of charts have to do with what is wrong. Pure. */
import type { Finding } from "@/api/findings/types";
import type { HeadroomEntry } from "@/api/types";
import { accuses } from "@/panels/findings/model";
import type { PanelGroup } from "@/panels/panel-catalogue";

/** Labels, and the words of PromQL that name some. */
const LABELS = /\{[^}]*\}|\b(?:by|without|on|ignoring|group_left|group_right)\b\s*(?:\([^)]*\))?/g;
/** A word with an underscore that is no function. */
const METRIC = /\b[a-zA-Z_:][\w:]*_[\w:]*\b(?!\s*\()/g;

/**
 * Ids of groups in which a limit is near, or that draw what a finding stands on. What a finding did to the load is drawn
 * by the first charts.
 */
export function stirredGroups(
  groups: readonly PanelGroup[],
  limits: readonly HeadroomEntry[],
  findings: readonly Finding[],
): readonly string[] {
  const near = new Set(limits.filter(({ state }) => state !== "ok").map(({ group }) => group));
  const seen = new Set(
    findings
      .filter(accuses)
      .flatMap(({ evidence }) => evidence)
      .filter(({ link }) => link !== "effect")
      .flatMap(({ expression }) => metricsOf(expression)),
  );
  const draws = ({ panels }: PanelGroup) =>
    panels.some(({ signals }) =>
      signals.some(({ expression }) => metricsOf(expression).some((metric) => seen.has(metric))),
    );
  return groups.filter((one) => near.has(one.group.id) || draws(one)).map(({ group }) => group.id);
}

function metricsOf(expression: string): readonly string[] {
  return expression.replaceAll(LABELS, " ").match(METRIC) ?? [];
}
