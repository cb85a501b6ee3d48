/** Small documents as the server answers them. */
import type { Alert, AlertTransition, Incident, Rule } from "@/api/alerts/types";

export function alert(id: string, part: Partial<Alert> = {}): Alert {
  const name = part.name ?? "TooManyConnections";
  const severity = part.severity ?? "warning";
  return {
    ...{ id, rule_id: "rule", group: "database", name, state: "firing", severity },
    ...{ labels: { alertname: name, severity, instance: id }, annotations: {}, translations: {} },
    ...{
      summary: "",
      description: "",
      runbook_url: "",
      expression: "connections > 100",
      value: 120,
      unit: "count",
      active_ms: 1000,
    },
    ...{ fired_ms: 2000, resolved_ms: null, resolved_reason: null, evaluated_ms: 3000, no_data: false },
    incident: { id, head: id },
    ...{ no_data_since_ms: null, holding_until_ms: null, flapping: false, recent_transitions: 1, run: null },
    ...{
      acknowledged: null,
      silenced_by: [],
      inhibited_by: [],
      follows_from: null,
      finding: null,
      muted: false,
      receivers: ["team"],
      undelivered: [],
    },
    ...{ sparkline: [], threshold: 100, comparison: ">", signal: "", moment_url: "/" },
    ...part,
  };
}

/** Of one alert and the others. */
export function incident(head: Alert, others: readonly Alert[] = [], part: Partial<Incident> = {}): Incident {
  const all = [head, ...others];
  const firing = all.filter((one) => one.state === "firing");
  return {
    ...{ id: head.incident.id, began_ms: head.active_ms, ended_ms: head.resolved_ms, head, others: [...others] },
    ...{ total: all.length, firing: firing.length, steps: {}, notified: [] },
    acknowledged: firing.filter((one) => one.acknowledged !== null).length,
    ...part,
  };
}

export const SEEN = { by: "mika", at_ms: 2500, comment: "" };
export const SILENCE = { id: "s1", comment: "moving", ends_ms: 9000 };

export function transition(id: number, part: Partial<AlertTransition> = {}): AlertTransition {
  return {
    ...{ id, alert_id: "a", from_state: null, to_state: "pending", at_ms: 1000, value: 120, reason: "", by: "" },
    ...part,
  };
}

export function rule(name: string, part: Partial<Rule> = {}): Rule {
  return {
    ...{ id: name, kind: "alerting", name, expression: "connections > 100", line: 1, for_seconds: 0 },
    ...{ keep_firing_for_seconds: 0, no_data: "keep", labels: { severity: "warning" } },
    ...{ annotations: {}, translations: {} },
    ...{ state: "inactive", firing: 0, pending: 0, without_data: 0, health: "ok", error: "" },
    ...{ evaluated_ms: 1000, evaluation_seconds: 0.001 },
    ...part,
  };
}
