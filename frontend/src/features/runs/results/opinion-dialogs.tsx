import { Textarea } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { muteFinding } from "@/api/findings/queries";
import type { Finding } from "@/api/findings/types";
import { useWords } from "@/panels/findings/words";
import { FaultText } from "@/ui/fault/problem";
import { FormDialog } from "@/ui/form/dialog";
import { Hint } from "@/ui/text/text";
import { useChange } from "@/ui/use-change";
import { mutedLabels } from "../model/opinions";

const REASON_LENGTH = 2000;

interface RejectProps {
  readonly finding: Finding;
  readonly busy: boolean;
  readonly error: Error | null;
  readonly onReject: (reason: string) => void;
  readonly onClose: () => void;
}

/** "It was not this": the reason is what others learn from. */
export function RejectDialog({ finding, busy, error, onReject, onClose }: RejectProps) {
  const { t } = useTranslation();
  const words = useWords();
  const [reason, setReason] = useState("");
  return (
    <FormDialog
      sheet
      title={t("findings.rejectTitle", { title: words(finding.title) })}
      submit={t("findings.rejectNow")}
      busy={busy}
      disabled={reason.trim() === ""}
      fault={<FaultText error={error} />}
      onSubmit={() => onReject(reason.trim())}
      onClose={onClose}
    >
      <Reason value={reason} onChange={setReason} />
    </FormDialog>
  );
}

/** Not to be said on this target any more, on any page and in any run. */
export function MuteDialog({ finding, onClose }: { finding: Finding; onClose: () => void }) {
  const { t } = useTranslation();
  const words = useWords();
  const [reason, setReason] = useState("");
  const labels = mutedLabels(finding);
  const mute = useChange(() => muteFinding({ finding_id: finding.id, labels, reason: reason.trim(), author: "" }), {
    touches: ["findings", "runs"],
    onDone: onClose,
  });
  const target = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return (
    <FormDialog
      sheet
      title={t("findings.muteTitle", { title: words(finding.title) })}
      submit={t("findings.muteNow")}
      busy={mute.isPending}
      fault={<FaultText error={mute.error} />}
      onSubmit={() => mute.mutate()}
      onClose={onClose}
    >
      <Hint>
        {target.length === 0 ? t("findings.muteEverywhere") : t("findings.muteHint", { target: target.join(", ") })}
      </Hint>
      <Reason value={reason} onChange={setReason} />
    </FormDialog>
  );
}

function Reason({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  const { t } = useTranslation();
  return (
    <Textarea
      label={t("findings.reason")}
      autosize
      minRows={2}
      maxRows={8}
      maxLength={REASON_LENGTH}
      value={value}
      data-autofocus
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
