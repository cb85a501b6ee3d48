import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { ActionStanding } from "@/api/runs/types";
import { Icon } from "@/ui/icon";
import { Hint } from "@/ui/text/text";
import reviewClasses from "../review.module.css";
import { type Action, newAction } from "./action";
import { ActionRow } from "./action-row";
import classes from "./action-rows.module.css";

const MOST_ACTIONS = 50;

interface Props {
  readonly actions: readonly Action[];
  /** As the server knows what is saved. */
  readonly standings: readonly ActionStanding[];
  readonly onChange: (actions: readonly Action[]) => void;
}

/** What is done next: by whom, until when, and what it should bring, by which later runs of the scenario are measured. */
export function ActionRows({ actions, standings, onChange }: Props) {
  const { t } = useTranslation();
  const set = (id: string, part: Partial<Action>) =>
    onChange(actions.map((one) => (one.id === id ? { ...one, ...part } : one)));
  return (
    <fieldset className={classes.actions}>
      <legend className={reviewClasses.label}>{t("runs.review.field_actions")}</legend>
      {actions.length === 0 && <Hint>{t("actions.none")}</Hint>}
      {actions.map((action, place) => (
        <ActionRow
          key={action.id}
          place={place + 1}
          action={action}
          standing={standings.find(({ id }) => id === action.id) ?? null}
          onChange={(part) => set(action.id, part)}
          onRemove={() => onChange(actions.filter(({ id }) => id !== action.id))}
        />
      ))}
      <Button
        size="compact-xs"
        variant="default"
        disabled={actions.length >= MOST_ACTIONS}
        leftSection={<Icon name="plus" size={12} />}
        onClick={() => onChange([...actions, newAction()])}
      >
        {t("actions.add")}
      </Button>
    </fieldset>
  );
}
