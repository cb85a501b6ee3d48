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
