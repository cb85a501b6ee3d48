import { useTranslation } from "react-i18next";
import type { Finding } from "@/api/findings/types";
import type { Run } from "@/api/runs/types";
import { DiagnosisBody, showFinding } from "@/panels/findings/diagnosis-body";
import { FindingHeadline } from "@/panels/findings/finding-headline";
import { Section } from "@/ui/page/section";
import { Hint, TextButton } from "@/ui/text/text";
import { FindingMarks } from "./finding-marks";
import { ComputeAgain } from "./findings-again";

const ID = "findings";

/** What ran out first in one sentence; the evidence is one click away. */
export function RunHeadline({ run }: { run: Run }) {
  const { t } = useTranslation();
  const { diagnosis, findings } = run;
  if (diagnosis === null) return null;
  const show = () => {
    const section = document.getElementById(ID);
    section?.scrollIntoView();
    showFinding(section?.querySelector("li > details") ?? null);
  };
  return (
    <FindingHeadline
      diagnosis={diagnosis}
      originMs={diagnosis.from_ms}
      action={
        <TextButton onClick={show}>{t(findings.length > 0 ? "findings.evidence" : "findings.details")}</TextButton>
      }
    />
  );
}

/** All findings of a run, and what was not it. */
export function FindingsSection({ run }: { run: Run }) {
  const { t } = useTranslation();
  const { diagnosis, findings } = run;
  if (diagnosis === null) {
    if (run.state === "running") return null;
    return (
      <Section id={ID} title={t("findings.title")}>
        <Hint>{t("findings.notComputed")}</Hint>
        <ComputeAgain run={run} />
      </Section>
    );
  }
  const tools = (finding: Finding) => <FindingMarks run={run.id} finding={finding} />;
  return (
    <Section id={ID} title={t("findings.title")} {...(findings.length > 1 && { aside: t("findings.hint") })}>
      <DiagnosisBody diagnosis={diagnosis} findings={findings} originMs={diagnosis.from_ms} tools={tools} />
      {run.state !== "running" && <ComputeAgain run={run} />}
    </Section>
  );
}
