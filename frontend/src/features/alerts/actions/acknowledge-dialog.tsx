import { Button, Textarea } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { acknowledgeAlert } from "@/api/alerts/queries";
import type { Alert } from "@/api/alerts/types";
import { FaultText } from "@/ui/fault/problem";
import { notifyGood } from "@/ui/notify";
import { Hint } from "@/ui/text/text";
import { LabelChips } from "../card/label-chips";
import classes from "./dialogs.module.css";
import { Sheet } from "./sheet";
import { useTouch } from "./use-touch";

/** "I look at it": one more press, and a word for the others if there is one. */
export function AcknowledgeDialog({ alert, onClose }: { alert: Alert; onClose: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [comment, setComment] = useState("");
  const touch = useTouch();
  const acknowledge = useMutation({
    mutationFn: () => acknowledgeAlert(alert.id, comment.trim()),
    onSuccess: () => {
      notifyGood(t("alerts.acknowledgedNow", { name: alert.name }));
      onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["alerts"] }),
  });
  const send = () => {
    if (!acknowledge.isPending) acknowledge.mutate();
  };
  return (
    <Sheet title={t("alerts.acknowledgeTitle", { name: alert.name })} onClose={onClose}>
      <form
        className={classes.form}
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <LabelChips labels={alert.labels} />
        <Hint>{t("alerts.acknowledgeHint")}</Hint>
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
        <FaultText error={acknowledge.error} />
        <div className={classes.buttons}>
          <Button variant="default" onClick={onClose} className={classes.button ?? ""}>
            {t("action.cancel")}
          </Button>
          <Button
            type="submit"
            loading={acknowledge.isPending}
            className={classes.button ?? ""}
            data-autofocus={touch ? true : undefined}
          >
            {t("alerts.acknowledge")}
          </Button>
        </div>
      </form>
    </Sheet>
  );
}
