import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useCallback, useState } from "react";
import { useTranslation } from "react-i18next";
import { unacknowledgeAlert } from "@/api/alerts/queries";
import type { Alert } from "@/api/alerts/types";
import { saveSilence } from "@/api/notify/queries";
import { serverNow } from "@/api/server-clock";
import { HOUR } from "@/lib/time/time";
import { faultText } from "@/ui/fault/problem";
import { notifyGood, notifyProblem } from "@/ui/notify";
import { matchersFor, silenceReason } from "../model/silence";
import { AcknowledgeDialog } from "./acknowledge-dialog";
import { DismissDialog } from "./dismiss-dialog";
import { SilenceDialog } from "./silence-dialog";

export type AlertAction = "acknowledge" | "unacknowledge" | "silence" | "silence-now" | "dismiss";

export interface AlertActions {
  /** With `others` the incident is meant, which may have more of them: `total`. */
  readonly act: (action: AlertAction, alert: Alert, others?: readonly Alert[], total?: number) => void;
  /** The dialog that is open, to be placed anywhere on the page. */
  readonly dialog: ReactNode;
}

interface Meant {
  readonly alert: Alert;
  readonly others: readonly Alert[];
  /** More than one is its incident. */
  readonly total: number;
}

interface Open extends Meant {
  readonly action: keyof typeof DIALOGS;
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
  const { mutate: silence, isPending: silencing } = useMutation({
    mutationFn: ({ alert, others }: Meant) => {
      const from = serverNow();
      const comment = silenceReason(t, alert, others);
      const matchers = [...matchersFor([alert, ...others])];
      return saveSilence(null, { matchers, starts_ms: from, ends_ms: from + HOUR, comment });
    },
    onSuccess: () => notifyGood(t("alerts.silence.done")),
    onError: (error) => notifyProblem(t("alerts.actionFailed"), faultText(error, t)),
    onSettled: () => client.invalidateQueries({ queryKey: ["alerts"] }),
  });
  const act = useCallback(
    (action: AlertAction, alert: Alert, others: readonly Alert[] = [], total = 1 + others.length) => {
      if (action === "unacknowledge") takeBack({ alert, others, total });
      else if (action === "silence-now") silencing || silence({ alert, others, total });
      else setOpen({ action, alert, others, total });
    },
    [takeBack, silence, silencing],
  );
  const close = useCallback(() => setOpen(null), []);
  const Dialog = open === null ? null : DIALOGS[open.action];
  return { act, dialog: open !== null && Dialog !== null && <Dialog {...open} onClose={close} /> };
}

const DIALOGS = { acknowledge: AcknowledgeDialog, silence: SilenceDialog, dismiss: DismissDialog } as const;
