import { NativeSelect, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Icon } from "@/ui/icon";
import { type AlertListState, LIST_STATES } from "../model/list-state";
import classes from "./alerts-page.module.css";
import type { ChangeAlertList } from "./use-alert-list";

interface Props {
  readonly state: AlertListState;
  readonly onChange: ChangeAlertList;
  /** Severities that rules use. */
  readonly severities: readonly string[];
}

/** Search, state and severity. */
export function AlertFilters({ state, onChange, severities }: Props) {
  const { t } = useTranslation();
  const known = [...new Set([...severities, ...(state.severity === null ? [] : [state.severity])])];
  return (
    <search className={classes.filters}>
      <SearchField value={state.search} label={t("alerts.search")} onChange={(search) => onChange({ search })} />
      <NativeSelect
        aria-label={t("alerts.filterState")}
        value={state.state ?? ""}
        data={[
          { value: "", label: t("alerts.allStates") },
          ...LIST_STATES.map((value) => ({ value, label: t(`alerts.state_${value}`) })),
        ]}
        onChange={(event) => {
          const value = event.currentTarget.value;
          onChange({ state: LIST_STATES.find((one) => one === value) ?? null });
        }}
      />
      <NativeSelect
        aria-label={t("alerts.filterSeverity")}
        value={state.severity ?? ""}
        data={[{ value: "", label: t("alerts.allSeverities") }, ...known.map((value) => ({ value, label: value }))]}
        onChange={(event) => onChange({ severity: event.currentTarget.value || null })}
      />
    </search>
  );
}

interface SearchProps {
  readonly value: string;
  readonly label: string;
  readonly onChange: (value: string) => void;
}

/** What is typed goes into the address once the typing pauses. */
export function SearchField({ value, label, onChange }: SearchProps) {
  const [text, setText] = useState(value);
  const tell = useDebouncedCallback(onChange, 250);
  useEffect(() => setText(value), [value]);
  return (
    <TextInput
      type="search"
      data-alert-search=""
      className={classes.search ?? ""}
      aria-label={label}
      placeholder={label}
      maxLength={200}
      leftSection={<Icon name="search" size={14} />}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        tell(event.currentTarget.value);
      }}
    />
  );
}
