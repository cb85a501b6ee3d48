import { useTranslation } from "react-i18next";
import { dismissAlert } from "@/api/alerts/queries";
import type { Alert } from "@/api/alerts/types";
import { FaultText } from "@/ui/fault/problem";
import { FormDialog } from "@/ui/form/dialog";
import { Hint } from "@/ui/text/text";
import { useChange } from "@/ui/use-change";
import { LabelChips } from "../card/label-chips";

/** For what was taken away on purpose: its data will not come back to say that all is well. */
export function DismissDialog({ alert, onClose }: { alert: Alert; onClose: () => void }) {
  const { t } = useTranslation();
  const dismiss = useChange(() => dismissAlert(alert.id), {
    touches: ["alerts"],
    said: t("alerts.dismiss.done"),
    onDone: onClose,
  });
  return (
    <FormDialog
      sheet
      title={t("alerts.dismiss.title", { name: alert.name })}
      submit={t("alerts.dismiss.open")}
      busy={dismiss.isPending}
      focus="cancel"
      fault={<FaultText error={dismiss.error} />}
      onSubmit={() => dismiss.mutate()}
      onClose={onClose}
    >
      <LabelChips labels={alert.labels} />
      <Hint>{t("alerts.dismiss.hint")}</Hint>
    </FormDialog>
  );
}
