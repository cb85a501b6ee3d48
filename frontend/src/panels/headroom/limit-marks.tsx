import { useTranslation } from "react-i18next";
import { StateMark, type Tone } from "@/ui/state-mark";
import type { Limit } from "./limit-rows";

const TONES: Readonly<Record<Limit["state"], Tone>> = { ok: "ok", near: "warn", full: "warn", exhausted: "bad" };

/** The state in icon and word. */
export function LimitState({ entry }: { entry: Limit }) {
  const { t } = useTranslation();
  if (entry.late) return <StateMark tone="warn" label={t("headroom.late")} />;
  return <StateMark tone={TONES[entry.state]} label={t(`headroom.state_${entry.state}`)} />;
}

/** The same in the room of an icon: its shape tells, the word is there for those who cannot see it. */
export function LimitSign({ entry }: { entry: Limit }) {
  const { t } = useTranslation();
  const label = entry.late ? t("headroom.late") : t(`headroom.state_${entry.state}`);
  return (
    <StateMark
      bare
      label={label}
      tone={entry.late ? "warn" : TONES[entry.state]}
      {...(entry.late && { icon: "clock" as const })}
    />
  );
}
