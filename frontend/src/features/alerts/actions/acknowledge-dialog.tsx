import { Textarea } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { acknowledgeAlert } from "@/api/alerts/queries";
import type { Alert } from "@/api/alerts/types";
import { FaultText } from "@/ui/fault/problem";
import { FormDialog } from "@/ui/form/dialog";
import { Hint } from "@/ui/text/text";
import { useChange } from "@/ui/use-change";
import { LabelChips } from "../card/label-chips";
import { useTouch } from "./use-touch";

interface Props {
  readonly alert: Alert;
  /** How many alerts are meant: more than one is its incident. */
  readonly total: number;
  readonly onClose: () => void;
}

/** "I look at it": one more press, and a word for the others if there is one. */
export function AcknowledgeDialog({ alert, total, onClose }: Props) {
  const { t } = useTranslation();
  const [comment, setComment] = useState("");
  const touch = useTouch();
  const acknowledge = useChange(() => acknowledgeAlert(alert.id, comment.trim(), total > 1), {
    touches: ["alerts"],
    said: t("alerts.acknowledgedNow", { name: alert.name }),
    onDone: onClose,
  });
  const send = () => {
    if (!acknowledge.isPending) acknowledge.mutate();
  };
  return (
    <FormDialog
      sheet
      title={t("alerts.acknowledgeTitle", { name: alert.name })}
      submit={t("alerts.acknowledge")}
      busy={acknowledge.isPending}
      focus={touch ? "submit" : undefined}
      fault={<FaultText error={acknowledge.error} />}
      onSubmit={send}
      onClose={onClose}
    >
      <LabelChips labels={alert.labels} />
      <Hint>{total > 1 ? t("alerts.incident.acknowledgeHint", { total }) : t("alerts.acknowledgeHint")}</Hint>
      <Textarea
        label={t("alerts.comment")}
        placeholder={t("alerts.commentHint")}
        autosize
        minRows={1}
        maxRows={6}
        maxLength={2000}
        value={comment}
        data-autofocus={touch ? undefined : true}
        onChange={(event) => setComment(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
    </FormDialog>
  );
}
