import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { formatClock } from "@/lib/time/time";
import { useView } from "@/lib/view/context";
import problem from "@/ui/fault/problem.module.css";
import { StateMark, type Tone } from "@/ui/state-mark";
import { Dim } from "@/ui/text/text";
import type { ReviewDraft, ReviewPhase } from "../model/review";
import classes from "./review.module.css";

interface Props {
  readonly draft: ReviewDraft;
  readonly phase: ReviewPhase;
  readonly onRetry: () => void;
}

const TONES: Readonly<Record<ReviewPhase, Tone>> = {
  empty: "unknown",
  saved: "ok",
  dirty: "unknown",
  saving: "unknown",
  failed: "bad",
  conflict: "warn",
};

/** Whether what is typed is safe, in words. */
export function ReviewState({ draft, phase, onRetry }: Props) {
  const { t } = useTranslation();
  const { zone } = useView();
  if (phase === "empty") return <Dim>{t("runs.review.state_empty")}</Dim>;
  const offline = phase === "failed" && draft.problem === "";
  const label = offline
    ? t("runs.review.offline")
    : phase === "saved" && draft.savedMs !== null
      ? t("runs.review.savedAt", { time: formatClock(draft.savedMs, zone, "second") })
      : t(`runs.review.state_${phase}`);
  return (
    <span className={classes.state} role="status" data-phase={phase}>
      <StateMark tone={offline ? "warn" : TONES[phase]} label={label} />
      {phase === "failed" && !offline && <span className={problem.problem}>{draft.problem}</span>}
      {phase === "failed" && (
        <Button size="compact-xs" variant="default" onClick={onRetry}>
          {t("action.retry")}
        </Button>
      )}
    </span>
  );
}
