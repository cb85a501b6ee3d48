import { Button, TagsInput } from "@mantine/core";
import { useMutation, useQueries, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { endMeeting } from "@/api/compare/queries";
import { reviewQuery, runQuery } from "@/api/runs/queries";
import type { Review } from "@/api/runs/types";
import { runTitle } from "@/lib/run-text";
import { ReviewActions } from "@/panels/actions/review-actions";
import { RunMark } from "@/panels/run/run-mark";
import { faultText } from "@/ui/fault/problem";
import { Table } from "@/ui/list/table";
import { notifyGood, notifyProblem } from "@/ui/notify";
import { TextButton } from "@/ui/text/text";
import classes from "./meeting.module.css";

interface Props {
  readonly runs: readonly string[];
  /** The one that was chosen; empty for all. */
  readonly scenario: string;
  /** Runs of other scenarios, which were not chosen. */
  readonly others: number;
  readonly attendees: readonly string[];
  readonly onAttendees: (names: readonly string[]) => void;
  readonly onShow: (run: string) => void;
  readonly onEnded: () => void;
}

/** What was gone through and what follows from it; then the meeting can be ended. */
export function MeetingEnd({ runs, scenario, others, attendees, onAttendees, onShow, onEnded }: Props) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const documents = useQueries({ queries: runs.map((run) => runQuery(run)) });
  const reviews = useQueries({ queries: runs.map((run) => reviewQuery(run)) });
  const known = [...new Set(reviews.flatMap(({ data }) => data?.attendees ?? []))];
  const end = useMutation({
    mutationFn: () => endMeeting(attendees, scenario),
    onSuccess: async () => {
      notifyGood(t("meeting.ended"));
      await client.invalidateQueries({ queryKey: ["runs", "meeting"] });
      onEnded();
    },
    onError: (error) => notifyProblem(t("meeting.endFailed"), faultText(error, t)),
  });
  return (
    <section className={classes.end} aria-labelledby="meeting-end">
      <h2 className={classes.name} id="meeting-end">
        {t("meeting.summary")}
      </h2>
      <Table label={t("meeting.summary")} className={classes.summary}>
        <thead>
          <tr>
            <th scope="col">{t("meeting.run")}</th>
            <th scope="col">{t("meeting.verdict")}</th>
            <th scope="col">{t("meeting.text_next_action")}</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run, place) => {
            const data = documents[place]?.data;
            return (
              <tr key={run}>
                <th scope="row">
                  <TextButton onClick={() => onShow(run)}>{data === undefined ? run : runTitle(data)}</TextButton>
                </th>
                <td>{data !== undefined && <RunMark {...data} />}</td>
                <td>
                  <Next review={reviews[place]?.data} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </Table>
      <div className={classes.finish}>
        <TagsInput
          size="md"
          label={t("meeting.attendees")}
          description={t("meeting.attendeesHint")}
          data={known}
          value={[...attendees]}
          onChange={onAttendees}
          comboboxProps={{ withinPortal: false }}
          clearable
          clearButtonProps={{ "aria-label": t("action.clear") }}
        />
        <Button size="md" loading={end.isPending} onClick={() => end.mutate()}>
          {t("meeting.end")}
        </Button>
      </div>
      <p className={classes.dim}>{t("meeting.endHint")}</p>
      {others > 0 && <p role="note">{t("meeting.endOthers", { count: others })}</p>}
    </section>
  );
}

/** What was decided after a run: its actions, or the words of before there were any. */
function Next({ review }: { review: Review | undefined }) {
  if (review === undefined || (review.next_action === "" && (review.actions ?? []).length === 0)) return "–";
  return (
    <>
      {review.next_action}
      <ReviewActions review={review} />
    </>
  );
}
