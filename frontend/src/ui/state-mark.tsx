import { Icon, type IconName } from "@/ui/icon";
import classes from "@/ui/state-mark.module.css";

export type Tone = "ok" | "warn" | "bad" | "unknown";

const ICONS: Readonly<Record<Tone, IconName>> = { ok: "check", warn: "warning", bad: "stop", unknown: "unknown" };

/** A state as icon and word; the colour only repeats what both say. */
export function StateMark({ tone, label, size = 13 }: { tone: Tone; label: string; size?: number }) {
  return (
    <span className={classes.mark} data-tone={tone}>
      <Icon name={ICONS[tone]} size={size} />
      {label}
    </span>
  );
}
