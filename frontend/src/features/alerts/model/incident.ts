/** What an incident says and asks for. Pure. */
import type { Alert, Incident } from "@/api/alerts/types";
import { inZone, type Locale, type TimeZone } from "@/lib/time/time";
import { gravityOf, isQuiet, tellingLabels, textOf } from "./text";

/** An alert in one sentence: what ran out, else what the rule says, else its name. */
export function headSentence(head: Alert, locale: Locale, zone: TimeZone): string {
  const found = head.finding?.sentence[locale];
  if (found) return inZone(found, zone, head.active_ms);
  return textOf(head, "summary", locale) || head.name;
}

/** Whether somebody has acknowledged all of it that fires; of one that does not fire yet, the head. */
export function isSeen({ head, firing, acknowledged }: Incident): boolean {
  return firing === 0 ? head.acknowledged !== null : acknowledged === firing;
}

/** Whether a silence holds all of it that is not over. */
export function isSilenced({ head, others }: Incident): boolean {
  return [head, ...others].every((one) => one.state === "resolved" || one.silenced_by.length > 0);
}

/** Whether it calls for somebody: not what a load test brings about, nor what is in hand or was silenced. */
export function waitsForSomebody(incident: Incident): boolean {
  const { head } = incident;
  const grave = [head, ...incident.others].some(
    (one) => one.state === "firing" && ["critical", "warning"].includes(gravityOf(one.severity)),
  );
  return grave && head.run === null && !isSeen(incident) && !isQuiet(head);
}

/** The labels that tell an alert from others of its rule, without their names. */
export function labelValues(labels: Readonly<Record<string, string>>): string {
  return tellingLabels(labels)
    .map(([, value]) => value)
    .join(" · ");
}
