import { useTranslation } from "react-i18next";
import type { CompareCell, Opinion } from "@/api/compare/types";
import type { IconName } from "@/ui/icon";
import { StateMark, type Tone } from "@/ui/state-mark";

const LOOKS: Readonly<Record<Opinion, readonly [Tone, IconName]>> = {
  better: ["ok", "check"],
  worse: ["bad", "stop"],
  same: ["unknown", "same"],
  unclear: ["unknown", "unclear"],
  neutral: ["unknown", "unequal"],
};

interface Props {
  readonly opinion: Opinion;
  /** How sure it is; said behind the opinion, unless that says it already. */
  readonly grade?: CompareCell["grade"];
  readonly label?: string;
}

/** What a difference means: icon and word. */
export function OpinionMark({ opinion, grade = null, label }: Props) {
  const { t } = useTranslation();
  const [tone, icon] = LOOKS[opinion];
  const words = [t(`compare.opinion_${opinion}`), grade && opinion !== "unclear" ? t(`compare.grade_${grade}`) : ""];
  return <StateMark tone={tone} icon={icon} label={label ?? words.filter(Boolean).join(" · ")} />;
}
