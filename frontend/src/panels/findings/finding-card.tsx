import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { Finding } from "@/api/findings/types";
import { CommandLine } from "@/ui/command-line";
import { Icon } from "@/ui/icon";
import { Badge, Tag, Tags } from "@/ui/text/tag";
import { Dim, TextButton } from "@/ui/text/text";
import { BasedOn, EvidenceList } from "./evidence-list";
import classes from "./findings.module.css";
import { SeverityMark } from "./severity-mark";
import { type FindingTimes, useWords } from "./words";

interface Props {
  readonly id: string;
  readonly finding: Finding;
  readonly causes: readonly Finding[];
  readonly effects: readonly Finding[];
  readonly times: FindingTimes;
  readonly opened: boolean;
  readonly onOpen: (key: string) => void;
  readonly tools: ReactNode;
}

/** One finding: what it says at once, all that it stands on behind it. */
export function FindingCard({ id, finding, causes, effects, times, opened, onOpen, tools }: Props) {
  const { t } = useTranslation();
  const words = useWords();
  return (
    <li className={classes.card} data-severity={finding.severity}>
      <details id={id} className={classes.details} {...(opened && { open: true })}>
        <summary>
          <Icon name="chevronRight" size={13} className={classes.arrowIcon ?? ""} />
          <span className={classes.cardHead}>
            <SeverityMark severity={finding.severity} />
            <strong>{words(finding.title)}</strong>
            {finding.muted && <Badge>{t("findings.muted")}</Badge>}
            {finding.mark != null && <Badge>{t(`findings.mark_${finding.mark.opinion}`)}</Badge>}
            <Dim>
              {t(`findings.certainty_${finding.certainty}`)} ·{" "}
              {t("findings.fromTo", { from: times.at(finding.from_ms), to: times.at(finding.to_ms) })}
            </Dim>
          </span>
          <span className={classes.sentence}>{words(finding.sentence)}</span>
        </summary>
        <div className={classes.body}>
          <Labels labels={finding.labels} />
          <Others name={t("findings.becauseOf")} findings={causes} onOpen={onOpen} />
          <Others name={t("findings.ledTo")} findings={effects} onOpen={onOpen} />
          <BasedOn finding={finding} />
          <EvidenceList finding={finding} times={times} />
          <Steps finding={finding} />
          <Reasons finding={finding} />
          {tools}
        </div>
      </details>
    </li>
  );
}

function Labels({ labels }: { labels: Readonly<Record<string, string>> }) {
  const pairs = Object.entries(labels);
  if (pairs.length === 0) return null;
  return (
    <Tags>
      {pairs.map(([name, value]) => (
        <li key={name}>
          <Tag small>
            {name}={value}
          </Tag>
        </li>
      ))}
    </Tags>
  );
}

interface OthersProps {
  readonly name: string;
  readonly findings: readonly Finding[];
  readonly onOpen: (key: string) => void;
}

function Others({ name, findings, onOpen }: OthersProps) {
  const words = useWords();
  if (findings.length === 0) return null;
  return (
    <p className={classes.others}>
      <Dim>{name}</Dim>
      {findings.map(({ key, title }) => (
        <TextButton key={key} onClick={() => onOpen(key)}>
          {words(title)}
        </TextButton>
      ))}
    </p>
  );
}

function Steps({ finding }: { finding: Finding }) {
  const { t } = useTranslation();
  const words = useWords();
  if (finding.steps.length === 0) return null;
  return (
    <>
      <h3 className={classes.heading}>{t("findings.steps")}</h3>
      <ol className={classes.steps}>
        {finding.steps.map(({ text, code }) => (
          <li key={text.en}>
            <p>{words(text)}</p>
            {code !== "" && <CommandLine text={code} />}
          </li>
        ))}
      </ol>
    </>
  );
}

function Reasons({ finding }: { finding: Finding }) {
  const { t } = useTranslation();
  const words = useWords();
  const { text, source } = finding.rule_of_thumb;
  return (
    <dl className={classes.reasons}>
      <div>
        <dt>{t("findings.why")}</dt>
        <dd>{words(finding.explanation)}</dd>
      </div>
      <div>
        <dt>{t("findings.rule")}</dt>
        <dd>
          {words(text)} <Dim>{t("findings.source", { source })}</Dim>
        </dd>
      </div>
      <div>
        <dt>{t("findings.refuted")}</dt>
        <dd>{words(finding.refuted_by)}</dd>
      </div>
    </dl>
  );
}
