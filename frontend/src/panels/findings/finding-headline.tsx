import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { Diagnosis, Headline } from "@/api/findings/types";
import { StateMark } from "@/ui/state-mark";
import { Dim } from "@/ui/text/text";
import classes from "./findings.module.css";
import { SeverityMark } from "./severity-mark";
import { useFindingTimes, useWords } from "./words";

interface Props {
  readonly diagnosis: Diagnosis;
  readonly originMs: number | null;
  /** Of what time this is, where the page does not say it already. */
  readonly window?: string;
  /** A quiet line below the sentence. */
  readonly below?: string | null;
  /** Leads to the evidence. */
  readonly action: ReactNode;
}

/** What the server says first: what ran out in one sentence, or that nothing did, or why nobody can tell. */
export function FindingHeadline({ diagnosis: { headline: said }, originMs, window, below = null, action }: Props) {
  const { t } = useTranslation();
  const words = useWords();
  const times = useFindingTimes(originMs);
  if (said == null) return null;
  const { kind, certainty, severity, from_ms: fromMs, more } = said;
  const aside =
    kind === "found"
      ? [
          certainty != null && certainty !== "certain" && t(`findings.certainty_${certainty}`),
          said.began_earlier ? t("findings.sinceLong") : t("findings.since", { time: times.at(fromMs ?? 0) }),
          more > 0 && t("findings.more", { count: more }),
        ]
      : [more > 0 && t("findings.noneNotes", { count: more }), window];
  return (
    <div className={classes.bar} data-tone={severity ?? (kind === "none" ? "none" : "unknown")}>
      <HeadlineMark said={said} />
      {/* Other words are other elements: they begin elsewhere, and have not moved. */}
      <p key={words(said.text)} className={classes.barText}>
        {words(said.text)}
        {below !== null && <span className={classes.barBelow}>{below}</span>}
      </p>
      <span className={classes.barAside}>
        <Dim key={aside.filter(Boolean).join(" · ")}>{aside.filter(Boolean).join(" · ")}</Dim>
        {action}
      </span>
    </div>
  );
}

/** How bad it is; where nothing is accused, in words that it is not, or that nobody can tell. */
export function HeadlineMark({ said, size = 13 }: { said: Headline; size?: number }) {
  const words = useWords();
  if (said.severity != null) return <SeverityMark severity={said.severity} size={size} />;
  const muted = said.kind === "muted" && { icon: "bellOff" as const };
  return <StateMark tone={said.kind === "none" ? "ok" : "unknown"} label={words(said.title)} size={size} {...muted} />;
}
