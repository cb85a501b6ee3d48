/** A silence as it is made from alerts. Pure. */
import type { TFunction } from "i18next";
import type { Alert, Matcher, MatchOperator } from "@/api/alerts/types";
import { HOUR, MINUTE, type TimeZone } from "@/lib/time/time";
import { labelValues } from "./incident";

export const OPERATORS: readonly MatchOperator[] = ["=", "!=", "=~", "!~"];

export const DURATIONS = ["30m", "1h", "2h", "8h", "morning"] as const;
export type SilenceDuration = (typeof DURATIONS)[number];

const LENGTHS: Readonly<Record<Exclude<SilenceDuration, "morning">, number>> = {
  "30m": 30 * MINUTE,
  "1h": HOUR,
  "2h": 2 * HOUR,
  "8h": 8 * HOUR,
};

const MORNING_HOUR = 9;

/** When a silence that begins now ends; the morning is tomorrow's nine o'clock on the clock that the page shows. */
export function silenceEnd(duration: SilenceDuration, nowMs: number, zone: TimeZone): number {
  if (duration !== "morning") return nowMs + LENGTHS[duration];
  const day = new Date(nowMs);
  return zone === "utc"
    ? Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), day.getUTCDate() + 1, MORNING_HOUR)
    : new Date(day.getFullYear(), day.getMonth(), day.getDate() + 1, MORNING_HOUR).getTime();
}

/** All labels of these alerts with all their values, so that nothing else falls silent; a later run is not this one. */
export function matchersFor(alerts: readonly Pick<Alert, "labels">[]): readonly Matcher[] {
  const names = new Set(alerts.flatMap(({ labels }) => Object.keys(labels)));
  names.delete("run");
  return [...names]
    .toSorted((a, b) => Number(b === "alertname") - Number(a === "alertname") || (a < b ? -1 : 1))
    .map((name) => {
      // An alert without the label has it empty.
      const values = [...new Set(alerts.map(({ labels }) => labels[name] ?? ""))].toSorted();
      if (values.length === 1) return { name, operator: "=", value: values.join() };
      return { name, operator: "=~", value: values.map((one) => one.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|") };
    });
}

/** What is silenced, for who asks why it is quiet; the server notes by whom. */
export function silenceReason(t: TFunction, alert: Alert, others: readonly Alert[]): string {
  const what = [alert.name, labelValues(alert.labels)].filter(Boolean).join(" · ");
  return others.length === 0 ? what : t("alerts.silence.reason", { what, total: others.length });
}

export type MatcherProblem = "name" | "none" | "many";

const MOST_MATCHERS = 20;

/** What keeps these matchers from being asked about; null when nothing does. */
export function matchersProblem(matchers: readonly Matcher[]): MatcherProblem | null {
  if (matchers.length === 0) return "none";
  if (matchers.length > MOST_MATCHERS) return "many";
  return matchers.every(({ name }) => /^[a-zA-Z_][a-zA-Z0-9_]*$/.test(name)) ? null : "name";
}
