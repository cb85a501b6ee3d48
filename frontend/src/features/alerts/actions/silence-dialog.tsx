import { Textarea } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { Alert, Matcher } from "@/api/alerts/types";
import { saveSilence, silencePreviewQuery } from "@/api/notify/queries";
import { serverNow } from "@/api/server-clock";
import { useNow } from "@/lib/time/use-now";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { FaultText, faultText, Problem } from "@/ui/fault/problem";
import { FormDialog } from "@/ui/form/dialog";
import { Icon } from "@/ui/icon";
import { Dim, Hint } from "@/ui/text/text";
import { useChange } from "@/ui/use-change";
import { shortInstant } from "../model/short-instant";
import {
  DURATIONS,
  matchersFor,
  matchersProblem,
  type SilenceDuration,
  silenceEnd,
  silenceReason,
} from "../model/silence";
import classes from "./dialogs.module.css";
import { MatcherRows } from "./matcher-rows";
import { useTouch } from "./use-touch";

interface Props {
  readonly alert: Alert;
  /** The others of its incident, where that is meant. */
  readonly others: readonly Alert[];
  readonly onClose: () => void;
}

/** Keeps what an alert or an incident stands for quiet for a time. */
export function SilenceDialog({ alert, others, onClose }: Props) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { zone } = useView();
  const now = useNow(serverNow, 10_000);
  const [matchers, setMatchers] = useState(() => matchersFor([alert, ...others]));
  const [duration, setDuration] = useState<SilenceDuration>("1h");
  const [comment, setComment] = useState(() => silenceReason(t, alert, others));
  const [asked, setAsked] = useState(false);
  const touch = useTouch();
  const problem = matchersProblem(matchers);
  const silent = comment.trim() === "";
  const add = useChange(
    () => {
      const from = serverNow();
      const ends_ms = silenceEnd(duration, from, zone);
      return saveSilence(null, { matchers: [...matchers], starts_ms: from, ends_ms, comment: comment.trim() });
    },
    { touches: ["alerts", "notify"], said: t("alerts.silence.done"), onDone: onClose },
  );
  return (
    <FormDialog
      sheet
      title={t("alerts.silence.title", { name: alert.name })}
      size="lg"
      submit={t("alerts.silence.open")}
      busy={add.isPending}
      fault={<FaultText error={add.error} />}
      onSubmit={() => {
        setAsked(true);
        if (!silent && problem === null && !add.isPending) add.mutate();
      }}
      onClose={onClose}
    >
      <MatcherRows matchers={matchers} onChange={setMatchers} />
      {problem === null ? (
        <Preview matchers={matchers} />
      ) : (
        <Problem calm>{t(`alerts.silence.problem_${problem}`)}</Problem>
      )}
      <DurationChoice value={duration} onChange={setDuration} />
      <Hint>
        {t("alerts.silence.until", { time: shortInstant(silenceEnd(duration, now, zone), now, zone, locale) })}
      </Hint>
      <Textarea
        label={t("alerts.silence.comment")}
        placeholder={t("alerts.silence.commentHint")}
        withAsterisk
        aria-required
        autosize
        minRows={1}
        maxRows={6}
        maxLength={2000}
        value={comment}
        error={asked && silent ? t("alerts.silence.needComment") : null}
        data-autofocus={touch ? undefined : true}
        onChange={(event) => setComment(event.currentTarget.value)}
      />
    </FormDialog>
  );
}

function DurationChoice({ value, onChange }: { value: SilenceDuration; onChange: (value: SilenceDuration) => void }) {
  const { t } = useTranslation();
  return (
    <fieldset className={classes.durations}>
      <legend>{t("alerts.silence.duration")}</legend>
      {DURATIONS.map((one) => (
        <label key={one} data-chosen={one === value}>
          <input
            type="radio"
            name="silence-duration"
            className="lw-visually-hidden"
            checked={one === value}
            onChange={() => onChange(one)}
          />
          {t(`alerts.silence.for_${one}`)}
        </label>
      ))}
    </fieldset>
  );
}

/** What would fall silent, asked as the matchers are written. */
function Preview({ matchers }: { matchers: readonly Matcher[] }) {
  const { t } = useTranslation();
  const [settled] = useDebouncedValue(matchers, 300);
  const preview = useQuery({ ...silencePreviewQuery(settled), placeholderData: keepPreviousData, retry: false });
  const found = preview.data;
  return (
    <div className={classes.preview} role="status" data-everything={found?.everything === true}>
      {preview.isError && <p>{faultText(preview.error, t)}</p>}
      {found !== undefined && !preview.isError && (
        <p>
          <Icon name="bellOff" size={13} /> {t("alerts.silence.matches", { total: found.alerts })}
          {found.names.length > 0 && <Dim> {found.names.join(", ")}</Dim>}
        </p>
      )}
      {found?.everything === true && (
        <p className={classes.warning}>
          <Icon name="warning" size={13} /> {t("alerts.silence.everything")}
        </p>
      )}
    </div>
  );
}
