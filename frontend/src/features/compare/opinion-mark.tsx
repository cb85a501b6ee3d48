import { useTranslation } from "react-i18next";
import type { Opinion } from "@/api/compare/types";
import type { IconName } from "@/ui/icon";
import { StateMark, type Tone } from "@/ui/state-mark";

const LOOKS: Readonly<Record<Opinion, readonly [Tone, IconName]>> = {
  better: ["ok", "check"],
  worse: ["bad", "stop"],
  same: ["unknown", "same"],
  unclear: ["unknown", "unclear"],
  neutral: ["unknown", "unequal"],
};

/** What a difference means: icon and word. */
export function OpinionMark({ opinion, label }: { opinion: Opinion; label?: string }) {
  const { t } = useTranslation();
  const [tone, icon] = LOOKS[opinion];
  return <StateMark tone={tone} icon={icon} label={label ?? t(`compare.opinion_${opinion}`)} />;
}
