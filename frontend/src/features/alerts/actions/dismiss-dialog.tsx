import { Button } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { dismissAlert } from "@/api/alerts/queries";
import type { Alert } from "@/api/alerts/types";
import { FaultText } from "@/ui/fault/problem";
import { notifyGood } from "@/ui/notify";
import { Hint } from "@/ui/text/text";
import { LabelChips } from "../card/label-chips";
import classes from "./dialogs.module.css";
import { Sheet } from "./sheet";

/** For what was taken away on purpose: its data will not come back to say that all is well. */
export function DismissDialog({ alert, onClose }: { alert: Alert; onClose: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const dismiss = useMutation({
    mutationFn: () => dismissAlert(alert.id),
    onSuccess: () => {
      notifyGood(t("alerts.dismiss.done"));
      onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["alerts"] }),
  });
  return (
    <Sheet title={t("alerts.dismiss.title", { name: alert.name })} onClose={onClose}>
      <div className={classes.form}>
        <LabelChips labels={alert.labels} />
        <Hint>{t("alerts.dismiss.hint")}</Hint>
        <FaultText error={dismiss.error} />
        <div className={classes.buttons}>
          <Button variant="default" onClick={onClose} className={classes.button ?? ""} data-autofocus>
            {t("action.cancel")}
          </Button>
          <Button loading={dismiss.isPending} className={classes.button ?? ""} onClick={() => dismiss.mutate()}>
            {t("alerts.dismiss.open")}
          </Button>
        </div>
      </div>
    </Sheet>
  );
}
