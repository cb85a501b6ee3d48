import { Button, Textarea } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { deleteMark, markFinding } from "@/api/findings/queries";
import type { Finding } from "@/api/findings/types";
import { useMay } from "@/lib/access-scopes";
import { useTimes } from "@/lib/time/use-times";
import { useWords } from "@/panels/findings/words";
import { FaultText } from "@/ui/fault/problem";
import { FormDialog } from "@/ui/form/dialog";
import { CardTools } from "@/ui/list/card";
import { Dim, Hint } from "@/ui/text/text";
import { useChange } from "@/ui/use-change";

const REASON_LENGTH = 2000;
/** A mute names at most so many labels. */
const MOST_LABELS = 5;
const TOUCHES = ["findings", "runs"];

/** A finding is marked wrong in this run, or muted on its target. */
export function FindingMarks({ run, finding }: { run: string; finding: Finding }) {
  const { t } = useTranslation();
  const times = useTimes();
  const [dialog, setDialog] = useState<"reject" | "mute" | null>(null);
  const may = useMay("runs:write");
  const back = useChange(deleteMark, { touches: TOUCHES });
  const { mark, mute } = finding;
  const button = (text: string, onClick: () => void) => (
    <Button size="compact-xs" variant="default" loading={back.isPending} onClick={onClick}>
      {text}
    </Button>
  );
  return (
    <div>
      {mark != null && (
        <p>
          <Dim>
            {t(`findings.mark_${mark.opinion}`)}{" "}
            {t("findings.saidBy", { author: mark.author || t("findings.nobody"), time: times.instant(mark.said_ms) })}
            {mark.reason !== "" && `: ${mark.reason}`}
          </Dim>
        </p>
      )}
      {may && (
        <CardTools>
          {mark == null
            ? button(t("findings.reject"), () => setDialog("reject"))
            : button(t("findings.takeBack"), () => back.mutate(mark.id))}
          {mute == null
            ? button(t("findings.mute"), () => setDialog("mute"))
            : button(t("findings.unmute"), () => back.mutate(mute))}
        </CardTools>
      )}
      <FaultText error={back.error} />
      {dialog !== null && <MarkDialog run={run} finding={finding} kind={dialog} onClose={() => setDialog(null)} />}
    </div>
  );
}

interface Props {
  readonly run: string;
  readonly finding: Finding;
  readonly kind: "reject" | "mute";
  readonly onClose: () => void;
}

function MarkDialog({ run, finding, kind, onClose }: Props) {
  const { t } = useTranslation();
  const words = useWords();
  const [reason, setReason] = useState("");
  const target = Object.entries(finding.labels).slice(0, MOST_LABELS);
  const labels = Object.fromEntries(target);
  const about = kind === "mute" ? { run: "", key: "", finding_id: finding.id, labels } : { run, key: finding.key };
  const mark = useChange(() => markFinding({ ...about, reason: reason.trim(), author: "" }), {
    touches: TOUCHES,
    onDone: onClose,
  });
  return (
    <FormDialog
      sheet
      title={t(`findings.${kind}Title`, { title: words(finding.title) })}
      submit={t(`findings.${kind}Now`)}
      busy={mark.isPending}
      disabled={kind === "reject" && reason.trim() === ""}
      fault={<FaultText error={mark.error} />}
      onSubmit={() => mark.mutate()}
      onClose={onClose}
    >
      {kind === "mute" && (
        <Hint>
          {target.length === 0
            ? t("findings.muteEverywhere")
            : t("findings.muteHint", { target: target.map(([name, value]) => `${name}=${value}`).join(", ") })}
        </Hint>
      )}
      <Textarea
        label={t("findings.reason")}
        autosize
        minRows={2}
        maxRows={8}
        maxLength={REASON_LENGTH}
        value={reason}
        data-autofocus
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </FormDialog>
  );
}
