import { Button } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { Run } from "@/api/runs/types";
import { EarlierActions } from "@/panels/actions/review-actions";
import { FaultText } from "@/ui/fault/problem";
import { Loading } from "@/ui/loading";
import { Section } from "@/ui/page/section";
import { usePrinting } from "@/ui/use-printing";
import { MeasuredTable } from "./measured-table";
import classes from "./review.module.css";
import { ReviewConflict } from "./review-conflict";
import { ReviewForm } from "./review-form";
import { ReviewHistoryDrawer } from "./review-history";
import { isWritten, ReviewPrinted } from "./review-printed";
import { ReviewState } from "./review-state";
import { useReview } from "./use-review";

/** What the team expected, saw and decided. */
export function ReviewSection({ run }: { run: Run }) {
  const { t } = useTranslation();
  const review = useReview(run.id);
  const [history, setHistory] = useState(false);
  const { draft, phase, query } = review;
  const printing = usePrinting();
  return (
    <Section
      id="review"
      title={t("runs.page.nav_review")}
      aside={
        draft !== null &&
        phase !== null && (
          <div className={classes.aside}>
            <ReviewState draft={draft} phase={phase} onRetry={review.retry} />
            {draft.version > 0 && (
              <Button size="compact-xs" variant="subtle" onClick={() => setHistory(true)}>
                {t("runs.review.history")}
              </Button>
            )}
          </div>
        )
      }
    >
      {draft === null && <FaultText error={query.error} />}
      {draft === null && !query.isError && <Loading height={200} />}
      {draft !== null && (
        <>
          <EarlierActions scored={query.data?.scored ?? []} />
          {draft.conflict !== null && <ReviewConflict theirs={draft.conflict} onChoose={review.dispatch} />}
          <div
            className={classes.written}
            data-empty={!isWritten(draft.text) && (query.data?.scored ?? []).length === 0}
          >
            <ReviewForm
              text={draft.text}
              onEdit={review.edit}
              measured={<MeasuredTable measured={query.data?.measured ?? []} />}
              standings={query.data?.standings ?? []}
            />
          </div>
          {printing && query.data !== undefined && <ReviewPrinted text={draft.text} review={query.data} />}
        </>
      )}
      {history && <ReviewHistoryDrawer run={run.id} onClose={() => setHistory(false)} onRestore={review.edit} />}
    </Section>
  );
}
