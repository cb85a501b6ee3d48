import { useTranslation } from "react-i18next";
import type { ReviewAction } from "@/api/runs/types";
import { StateMark, type Tone } from "@/ui/state-mark";
import classes from "./actions.module.css";
import { isOverdue } from "./score-words";

const TONES: Readonly<Record<ReviewAction["state"], Tone>> = { open: "busy", done: "ok", dropped: "unknown" };

/** State, owner, day and what is expected, on one line. */
export function ActionFacts({ action }: { action: ReviewAction }) {
  const { t } = useTranslation();
  const due = action.due ?? "";
  return (
    <p className={classes.facts}>
      <StateMark
        tone={TONES[action.state]}
        label={t(`actions.state_${action.state}`)}
        {...(action.state === "open" && { icon: "clock" })}
      />
      {action.owner !== "" && <span>{action.owner}</span>}
      {due !== "" && <span>{t("actions.dueOn", { day: due })}</span>}
      {isOverdue(action, new Date()) && <StateMark tone="warn" label={t("actions.overdue")} />}
      {action.expected !== "" && <code>{action.expected}</code>}
    </p>
  );
}
