/** What people say of findings. Pure. */
import type { Finding, Mute } from "@/api/findings/types";

/** A mute names at most so many labels. */
const MOST_LABELS = 5;

/** The target that a mute is for. */
export function mutedLabels(finding: Finding): Record<string, string> {
  return Object.fromEntries(Object.entries(finding.labels).slice(0, MOST_LABELS));
}

/** The mute that holds a finding back; null where none is known. */
export function muteOf(finding: Finding, mutes: readonly Mute[]): Mute | null {
  const holds = ({ finding_id, labels }: Mute) =>
    finding_id === finding.id && Object.entries(labels ?? {}).every(([name, value]) => finding.labels[name] === value);
  return mutes.find(holds) ?? null;
}
