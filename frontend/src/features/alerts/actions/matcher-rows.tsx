import { Button, NativeSelect, TextInput } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { Matcher, MatchOperator } from "@/api/alerts/types";
import { Icon } from "@/ui/icon";
import { IconButton } from "@/ui/icon-button";
import { OPERATORS } from "../model/silence";
import classes from "./dialogs.module.css";

interface Props {
  readonly matchers: readonly Matcher[];
  readonly onChange: (matchers: readonly Matcher[]) => void;
}

/** One row for each condition on a label; all must hold. */
export function MatcherRows({ matchers, onChange }: Props) {
  const { t } = useTranslation();
  // Rows are told apart by a number of their own: two may be equal while somebody writes.
  const [keys, setKeys] = useState(() => matchers.map((_, place) => place));
  const set = (place: number, part: Partial<Matcher>) =>
    onChange(matchers.map((one, index) => (index === place ? { ...one, ...part } : one)));
  const drop = (place: number) => {
    setKeys(keys.filter((_, index) => index !== place));
    onChange(matchers.filter((_, index) => index !== place));
  };
  const add = () => {
    setKeys([...keys, Math.max(-1, ...keys) + 1]);
    onChange([...matchers, { name: "", operator: "=", value: "" }]);
  };
  return (
    <fieldset className={classes.matchers}>
      <legend>{t("alerts.silence.matchers")}</legend>
      {matchers.map((matcher, place) => (
        <div key={keys[place]} className={classes.matcher}>
          <TextInput
            aria-label={t("alerts.silence.label", { place: place + 1 })}
            value={matcher.name}
            maxLength={200}
            spellCheck={false}
            autoCapitalize="off"
            onChange={(event) => set(place, { name: event.currentTarget.value.trim() })}
          />
          <NativeSelect
            aria-label={t("alerts.silence.operator", { place: place + 1 })}
            value={matcher.operator}
            data={[...OPERATORS]}
            onChange={(event) => set(place, { operator: event.currentTarget.value as MatchOperator })}
          />
          <TextInput
            aria-label={t("alerts.silence.value", { place: place + 1 })}
            value={matcher.value}
            maxLength={2000}
            spellCheck={false}
            autoCapitalize="off"
            onChange={(event) => set(place, { value: event.currentTarget.value })}
          />
          <IconButton
            icon="trash"
            label={t("alerts.silence.remove", { name: matcher.name })}
            size={36}
            onClick={() => drop(place)}
          />
        </div>
      ))}
      <div>
        <Button variant="subtle" size="xs" leftSection={<Icon name="plus" size={13} />} onClick={add}>
          {t("alerts.silence.add")}
        </Button>
      </div>
    </fieldset>
  );
}
