import { useCallback } from "react";
import { useTranslation } from "react-i18next";
import type { AlertTransition } from "@/api/alerts/types";
import { knownReason, movesState } from "./series";

/** What happened, in words: the new state, the reason, or both. */
export function useTransitionText(): (transition: AlertTransition) => string {
  const { t } = useTranslation();
  return useCallback(
    (transition) => {
      const known = knownReason(transition.reason);
      const what = known === null ? transition.reason : t(`alerts.reason_${known}`);
      const reason = transition.by === "" ? what : t("alerts.page.by", { what, by: transition.by });
      if (!movesState(transition)) return reason === "" ? t("alerts.page.changed") : reason;
      const state = t(`alerts.state_${transition.to_state}`);
      return reason === "" ? state : `${state}: ${reason}`;
    },
    [t],
  );
}
