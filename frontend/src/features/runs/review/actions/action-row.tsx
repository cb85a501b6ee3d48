import { NativeSelect, Textarea, TextInput } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { ActionStanding } from "@/api/runs/types";
import { detailOf, formatMeasure } from "@/lib/run-text";
import { useLocale } from "@/lib/use-locale";
import { ScoreList } from "@/panels/actions/score-list";
import { isOverdue } from "@/panels/actions/score-words";
import { IconButton } from "@/ui/icon-button";
import { StateMark } from "@/ui/state-mark";
import { Dim } from "@/ui/text/text";
import type { Action } from "./action";
import classes from "./action-rows.module.css";

const STATES = ["open", "done", "dropped"] as const;

interface Props {
  readonly place: number;
  readonly action: Action;
  readonly standing: ActionStanding | null;
  readonly onChange: (part: Partial<Action>) => void;
  readonly onRemove: () => void;
}

/** One action as it is typed, with what is known of it. */
export function ActionRow({ place, action, standing, onChange, onRemove }: Props) {
  const { t } = useTranslation();
  const name = (field: string) => t("actions.row", { place, field });
  return (
    <fieldset className={classes.action} aria-label={t("actions.text", { place })}>
      <Textarea
        size="sm"
        className={classes.text ?? ""}
        aria-label={t("actions.text", { place })}
        placeholder={t("actions.textHint")}
        autosize
        minRows={1}
        maxRows={6}
        maxLength={1000}
        value={action.text}
        onChange={(event) => onChange({ text: event.currentTarget.value })}
      />
      <IconButton icon="trash" label={t("actions.remove", { place })} onClick={onRemove} />
      <div className={classes.fields}>
        <TextInput
          size="sm"
          label={t("actions.owner")}
          aria-label={name(t("actions.owner"))}
          maxLength={100}
          value={action.owner}
          onChange={(event) => onChange({ owner: event.currentTarget.value })}
        />
        <TextInput
          size="sm"
          type="date"
          label={t("actions.due")}
          aria-label={name(t("actions.due"))}
          value={action.due ?? ""}
          onChange={(event) => onChange({ due: event.currentTarget.value || null })}
        />
        <NativeSelect
          size="sm"
          label={t("actions.state")}
          aria-label={name(t("actions.state"))}
          data={STATES.map((value) => ({ value, label: t(`actions.state_${value}`) }))}
          value={action.state}
          onChange={(event) => {
            const state = STATES.find((one) => one === event.currentTarget.value);
            if (state !== undefined) onChange({ state });
          }}
        />
        <TextInput
          size="sm"
          className={classes.expected ?? ""}
          label={t("actions.expected")}
          aria-label={name(t("actions.expected"))}
          placeholder={t("actions.expectedHint")}
          maxLength={200}
          value={action.expected}
          onChange={(event) => onChange({ expected: event.currentTarget.value })}
        />
      </div>
      <div className={classes.known}>
        {isOverdue(action, new Date()) && <StateMark tone="warn" label={t("actions.overdue")} />}
        {standing !== null && action.expected !== "" && (
          <Known standing={standing} dropped={action.state === "dropped"} />
        )}
      </div>
    </fieldset>
  );
}

function Known({ standing, dropped }: { standing: ActionStanding; dropped: boolean }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const value = formatMeasure(standing.before, standing.unit, locale);
  return (
    <>
      {standing.detail !== "" && (
        <p className={classes.problem}>
          <StateMark tone="warn" label={t("actions.unscored")} /> <Dim>{detailOf(standing, locale)}</Dim>
        </p>
      )}
      {standing.detail === "" && standing.scores.length === 0 && (
        <Dim>
          {standing.before !== null && `${t("actions.before", { value })} `}
          {!dropped && t("actions.waits")}
        </Dim>
      )}
      <ScoreList scores={standing.scores} />
    </>
  );
}
