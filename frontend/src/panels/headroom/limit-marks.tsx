import { useTranslation } from "react-i18next";
import type { HeadroomEntry } from "@/api/types";
import { StateMark, type Tone } from "@/ui/state-mark";
import classes from "./headroom.module.css";
import type { Rank } from "./limit-rows";
import { useLimitWords } from "./use-limit-words";

const TONES: Readonly<Record<HeadroomEntry["state"], Tone>> = { ok: "ok", near: "warn", exhausted: "bad" };

/** The state in icon and word. */
export function LimitState({ entry }: { entry: HeadroomEntry }) {
  const { t } = useTranslation();
  if (entry.late) return <StateMark tone="warn" label={t("headroom.late")} />;
  return <StateMark tone={TONES[entry.state]} label={t(`headroom.state_${entry.state}`)} />;
}

/** The same in the room of an icon: its shape tells, the word is there for those who cannot see it. */
export function LimitSign({ entry }: { entry: HeadroomEntry }) {
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

/** The place in the order in which limits were reached. */
export function RankBadge({ rank }: { rank: Rank | null }) {
  const words = useLimitWords();
  if (rank === null) return <span className={classes.noRank} />;
  return (
    <span className={classes.rank} title={words.rank(rank)}>
      <span aria-hidden="true">{rank.place}</span>
      <span className="lw-visually-hidden">{words.rank(rank)}</span>
    </span>
  );
}
