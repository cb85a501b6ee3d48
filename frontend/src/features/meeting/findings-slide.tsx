import { useTranslation } from "react-i18next";
import type { Finding } from "@/api/findings/types";
import type { Run } from "@/api/runs/types";
import { formatElapsed } from "@/lib/run-text";
import { HeadlineMark } from "@/panels/findings/finding-headline";
import { SeverityMark } from "@/panels/findings/severity-mark";
import { useWords } from "@/panels/findings/words";
import { CommandLine } from "@/ui/command-line";
import classes from "./meeting.module.css";

/** A room reads a few; the run page has all. */
const MOST_SHOWN = 3;

/** What ran out, in order: the sentence, how certain, the first figure behind it, and what to do. */
export function FindingsSlide({ run }: { run: Run }) {
  const { t } = useTranslation();
  const words = useWords();
  const { diagnosis } = run;
  if (diagnosis === null) return null;
  const findings = run.findings.filter(({ muted }) => !muted);
  const more = findings.length - MOST_SHOWN;
  return (
    <section className={classes.card} aria-labelledby={`findings-${run.id}`}>
      <h3 id={`findings-${run.id}`}>{t("meeting.ranOut")}</h3>
      {diagnosis.headline != null && diagnosis.headline.kind !== "found" && (
        <p>
          <HeadlineMark said={diagnosis.headline} size={16} /> {words(diagnosis.headline.text)}
        </p>
      )}
      <ol className={classes.findings}>
        {findings.slice(0, MOST_SHOWN).map((finding) => (
          <Item key={finding.key} finding={finding} findings={findings} originMs={diagnosis.from_ms} />
        ))}
      </ol>
      {more > 0 && <p className={classes.dim}>{t("findings.more", { count: more })}</p>}
    </section>
  );
}

interface Props {
  readonly finding: Finding;
  readonly findings: readonly Finding[];
  readonly originMs: number;
}

function Item({ finding, findings, originMs }: Props) {
  const { t } = useTranslation();
  const words = useWords();
  const causes = findings.filter(({ key }) => finding.because_of.includes(key));
  const [evidence] = finding.evidence;
  const [step] = finding.steps;
  const facts = [
    t(`findings.certainty_${finding.certainty}`),
    t("findings.since", { time: formatElapsed(Math.round((finding.from_ms - originMs) / 1000)) }),
    causes.length === 0 ? "" : t("meeting.because", { causes: causes.map(({ title }) => words(title)).join(", ") }),
  ];
  return (
    <li>
      <p>
        <SeverityMark severity={finding.severity} size={16} /> <strong>{words(finding.sentence)}</strong>
      </p>
      <p className={classes.dim}>{facts.filter(Boolean).join(" · ")}</p>
      {evidence !== undefined && <p>{words(evidence.text)}</p>}
      {step !== undefined && (
        <p>
          {t("meeting.firstStep")}: {words(step.text)}
        </p>
      )}
      {step !== undefined && step.code !== "" && <CommandLine text={step.code} />}
    </li>
  );
}
