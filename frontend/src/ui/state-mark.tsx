import { Icon, type IconName } from "@/ui/icon";
import classes from "@/ui/state-mark.module.css";

export type Tone = "ok" | "warn" | "bad" | "unknown" | "busy";

const ICONS: Readonly<Record<Tone, IconName>> = {
  ok: "check",
  warn: "warning",
  bad: "stop",
  unknown: "unknown",
  busy: "play",
};

interface Props {
  readonly tone: Tone;
  readonly label: string;
  /** In the place of the tone's own. */
  readonly icon?: IconName;
  readonly title?: string;
  readonly size?: number;
  /** Where there is room for the icon only: the word is for those who cannot see it, and under the pointer. */
  readonly bare?: boolean;
}

/** A state as icon and word; the colour only repeats what both say. */
export function StateMark({ tone, label, icon = ICONS[tone], title, size = 13, bare = false }: Props) {
  return (
    <span className={classes.mark} data-tone={tone} title={bare ? label : title}>
      <Icon name={icon} size={size} />
      {bare ? <span className="lw-visually-hidden">{label}</span> : label}
    </span>
  );
}
