import { NativeSelect } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { SearchField } from "@/ui/list/search-field";
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
