import { useTranslation } from "react-i18next";
import type { Review } from "@/api/runs/types";
import { EarlierActions, ReviewActions } from "@/panels/actions/review-actions";
import type { ReviewText } from "../model/review";
import { MeasuredTable } from "./measured-table";
import classes from "./review.module.css";
import { textOf } from "./use-review";

const WORDS = ["approach", "outcome", "next_action", "feedback"] as const;

/** Whether there is anything of a review to read. */
export function isWritten(text: ReviewText): boolean {
  const lists = [text.expected, text.monitored, text.attendees, text.actions];
  return WORDS.some((field) => text[field] !== "") || lists.some((list) => list.length > 0);
}

/** What the server holds, as it stands on paper. */
export function SavedReview({ review }: { review: Review }) {
  return (
    <>
      <EarlierActions scored={review.scored} />
      <ReviewPrinted text={textOf(review)} review={review} />
    </>
  );
}

/** On paper: what was written, in full and without the boxes to write it in. */
export function ReviewPrinted({ text, review }: { text: ReviewText; review: Review }) {
  const { t } = useTranslation();
  const listed = (["monitored", "attendees"] as const).map((field) => [field, text[field].join(", ")] as const);
  const written = [...WORDS.map((field) => [field, text[field]] as const), ...listed].filter(
    ([, words]) => words !== "",
  );
  return (
    <div className={classes.printed}>
      <dl>
        {written.map(([field, words]) => (
          <div key={field}>
            <dt>{t(`runs.review.field_${field}`)}</dt>
            <dd>{words}</dd>
          </div>
        ))}
        {text.expected.length > 0 && (
          <div>
            <dt>{t("runs.review.field_expected")}</dt>
            {text.expected.map(({ expression, note }) => (
              <dd key={expression}>
                <code>{expression}</code> {note}
              </dd>
            ))}
          </div>
        )}
      </dl>
      {review.measured.length > 0 && <MeasuredTable measured={review.measured} />}
      <ReviewActions review={{ ...review, actions: text.actions.map((one) => ({ ...one })) }} />
    </div>
  );
}
