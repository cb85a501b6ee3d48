import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useCallback, useState } from "react";
import { useTranslation } from "react-i18next";
import { unacknowledgeAlert } from "@/api/alerts/queries";
import type { Alert } from "@/api/alerts/types";
import { faultText } from "@/ui/fault/problem";
import { notifyGood, notifyProblem } from "@/ui/notify";
import { AcknowledgeDialog } from "./acknowledge-dialog";
import { DismissDialog } from "./dismiss-dialog";
import { SilenceDialog } from "./silence-dialog";

export type AlertAction = "acknowledge" | "unacknowledge" | "silence" | "dismiss";

export interface AlertActions {
  /** `total`: of how many alerts, where an incident is meant. */
  readonly act: (action: AlertAction, alert: Alert, total?: number) => void;
  /** The dialog that is open, to be placed anywhere on the page. */
  readonly dialog: ReactNode;
}

interface Meant {
  readonly alert: Alert;
  /** More than one is its incident. */
  readonly total: number;
}

interface Open extends Meant {
  readonly action: AlertAction;
}

/** What is done about alerts: dialogs for what needs a word, taking back at once. */
export function useAlertAction(): AlertActions {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [open, setOpen] = useState<Open | null>(null);
  const { mutate: takeBack } = useMutation({
    mutationFn: ({ alert, total }: Meant) => unacknowledgeAlert(alert.id, total > 1),
    onSuccess: () => notifyGood(t("alerts.takenBack")),
    onError: (error) => notifyProblem(t("alerts.actionFailed"), faultText(error, t)),
    onSettled: () => client.invalidateQueries({ queryKey: ["alerts"] }),
  });
  const act = useCallback(
    (action: AlertAction, alert: Alert, total = 1) => {
      if (action === "unacknowledge") takeBack({ alert, total });
      else setOpen({ action, alert, total });
    },
    [takeBack],
  );
  const close = useCallback(() => setOpen(null), []);
  const Dialog = open === null || open.action === "unacknowledge" ? null : DIALOGS[open.action];
  return { act, dialog: open !== null && Dialog !== null && <Dialog {...open} onClose={close} /> };
}

const DIALOGS = { acknowledge: AcknowledgeDialog, silence: SilenceDialog, dismiss: DismissDialog } as const;
