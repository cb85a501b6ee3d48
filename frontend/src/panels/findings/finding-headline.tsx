import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { Diagnosis, Finding } from "@/api/findings/types";
import { StateMark } from "@/ui/state-mark";
import { Dim } from "@/ui/text/text";
import classes from "./findings.module.css";
import { headlineOf } from "./model";
import { SeverityMark } from "./severity-mark";
import { useFindingTimes, useWords } from "./words";

interface Props {
  readonly diagnosis: Diagnosis;
  readonly findings: readonly Finding[];
  readonly originMs: number | null;
  /** Of what time this is, where the page does not say it already. */
  readonly window?: string;
  /** Leads to the evidence. */
  readonly action: ReactNode;
}

/** What ran out first in one sentence, or that nothing did, or why nobody can tell. */
export function FindingHeadline({ diagnosis, findings, originMs, window, action }: Props) {
  const { t } = useTranslation();
  const words = useWords();
  const times = useFindingTimes(originMs);
  const said = headlineOf(diagnosis, findings);
  if (said.kind === "found") {
    const { first, more } = said;
    return (
      <Bar
        tone={first.severity}
        mark={<SeverityMark severity={first.severity} />}
        text={words(first.sentence)}
        aside={[
          t(`findings.certainty_${first.certainty}`),
          first.began_earlier ? t("findings.sinceLong") : t("findings.since", { time: times.at(first.from_ms) }),
          window,
          more > 0 ? t("findings.more", { count: more }) : undefined,
        ]}
        action={action}
      />
    );
  }
  const notes = said.notes > 0 ? t("findings.noneNotes", { count: said.notes }) : undefined;
  if (said.kind === "cannot-tell" || said.kind === "full") {
    const text = said.kind === "full" ? said.first : said.why;
    return (
      <Bar
        tone="unknown"
        mark={<StateMark tone="unknown" label={t(said.kind === "full" ? "findings.full" : "findings.cannotTell")} />}
        text={text === null ? "" : words(text)}
        aside={[notes, window]}
        action={action}
      />
    );
  }
  if (said.kind === "muted") {
    return (
      <Bar
        tone="unknown"
        mark={<StateMark tone="unknown" icon="bellOff" label={t("findings.onlyMuted")} />}
        text={t("findings.onlyMutedCount", { count: said.muted })}
        aside={[notes, window]}
        action={action}
      />
    );
  }
  return (
    <Bar
      tone="none"
      mark={<StateMark tone="ok" label={t("findings.none")} />}
      text={t("findings.noneChecked", { count: said.checked })}
      aside={[notes, window]}
      action={action}
    />
  );
}

interface BarProps {
  readonly tone: string;
  readonly mark: ReactNode;
  readonly text: string;
  readonly aside: readonly (string | undefined)[];
  readonly action: ReactNode;
}

function Bar({ tone, mark, text, aside, action }: BarProps) {
  return (
    <div className={classes.bar} data-tone={tone}>
      {mark}
      <p className={classes.barText}>{text}</p>
      <span className={classes.barAside}>
        <Dim>{aside.filter((part) => part !== undefined).join(" · ")}</Dim>
        {action}
      </span>
    </div>
  );
}
