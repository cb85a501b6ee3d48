import { Autocomplete, Switch, TextInput } from "@mantine/core";
import { useId } from "react";
import { useTranslation } from "react-i18next";
import { Problem } from "@/ui/fault/problem";
import { Toggle, Toggles } from "@/ui/form/toggle";
import { Hint } from "@/ui/text/text";
import { isTimeZone, type SilenceDraft, type SilenceField } from "../model/silence";
import classes from "../notify.module.css";
import { useRecurrenceWords, useWeekdays } from "./use-recurrence-words";

interface Props {
  readonly draft: SilenceDraft;
  readonly onChange: (part: Partial<SilenceDraft>) => void;
  readonly words: (field: SilenceField) => string | null;
}

const ZONES = ["UTC", ...Intl.supportedValuesOf("timeZone")];

/** Only on some days, between two times of the day. */
export function SilenceOften({ draft, onChange, words }: Props) {
  const { t } = useTranslation();
  const names = useWeekdays();
  const say = useRecurrenceWords();
  const id = useId();
  const toggle = (day: number) =>
    onChange({
      weekdays: draft.weekdays.includes(day) ? draft.weekdays.filter((one) => one !== day) : [...draft.weekdays, day],
    });
  return (
    <>
      <Switch
        label={t("notify.often.label")}
        description={t("notify.often.hint")}
        checked={draft.recurring}
        onChange={(event) => onChange({ recurring: event.currentTarget.checked })}
      />
      {draft.recurring && (
        <>
          <div>
            <p id={id} className={classes.fieldLabel}>
              {t("notify.often.days")}
            </p>
            <Toggles labelledby={id}>
              {names.map((name, day) => (
                <Toggle key={name} on={draft.weekdays.includes(day)} onClick={() => toggle(day)}>
                  {name}
                </Toggle>
              ))}
            </Toggles>
            {words("weekdays") !== null && <Problem>{words("weekdays")}</Problem>}
          </div>
          <div className={classes.pair}>
            <TextInput
              label={t("notify.often.from")}
              placeholder="22:00"
              value={draft.fromTime}
              onChange={(event) => onChange({ fromTime: event.currentTarget.value })}
              error={words("times")}
            />
            <TextInput
              label={t("notify.often.to")}
              placeholder="06:00"
              value={draft.toTime}
              onChange={(event) => onChange({ toTime: event.currentTarget.value })}
            />
            <Autocomplete
              label={t("notify.often.zone")}
              data={ZONES}
              limit={30}
              comboboxProps={{ withinPortal: false }}
              value={draft.timeZone}
              onChange={(timeZone) => onChange({ timeZone })}
              error={words("timeZone")}
            />
          </div>
          {isTimeZone(draft.timeZone) && draft.weekdays.length > 0 && (
            <Hint>
              {say({
                weekdays: [...draft.weekdays].sort((a, b) => a - b),
                from_time: draft.fromTime,
                to_time: draft.toTime,
                time_zone: draft.timeZone,
              })}
            </Hint>
          )}
        </>
      )}
    </>
  );
}
