/** What an incident says and asks for. Pure. */
import type { Alert, Incident } from "@/api/alerts/types";
import type { Locale } from "@/lib/time/time";
import { gravityOf, isQuiet, tellingLabels, textOf } from "./text";

/** The cause in one sentence: what ran out, else what the rule says, else its name. */
export function causeSentence(cause: Alert, locale: Locale): string {
  return cause.finding?.sentence[locale] || textOf(cause, "summary", locale) || cause.name;
}

/** Whether somebody has acknowledged all of it that fires; of one that does not fire yet, the cause. */
export function isSeen({ cause, firing, acknowledged }: Incident): boolean {
  return firing === 0 ? cause.acknowledged !== null : acknowledged === firing;
}

/** Whether it calls for somebody: not what a load test brings about, nor what is in hand or was silenced. */
export function waitsForSomebody(incident: Incident): boolean {
  const { cause } = incident;
  const grave = [cause, ...incident.follows].some(
    (one) => one.state === "firing" && ["critical", "warning"].includes(gravityOf(one.severity)),
  );
  return grave && cause.run === null && !isSeen(incident) && !isQuiet(cause);
}

/** The labels that tell an alert from others of its rule, without their names. */
export function labelValues(labels: Readonly<Record<string, string>>): string {
  return tellingLabels(labels)
    .map(([, value]) => value)
    .join(" · ");
}

/** One matter of a list: the alert that it is named after, and what belongs to it. */
export interface Matter {
  readonly id: string;
  readonly cause: Alert;
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
    const cause = members.find((one) => one.id === one.incident.cause) ?? members[0];
    return cause === undefined ? [] : [{ id, cause, others: members.filter((one) => one !== cause) }];
  });
}
