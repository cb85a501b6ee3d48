import { useTranslation } from "react-i18next";
import { FilterBar, FilterSelect } from "@/ui/list/filter-bar";
import { SearchField } from "@/ui/list/search-field";
import { type AlertListState, LIST_STATES } from "../model/list-state";
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
    <FilterBar>
      <SearchField value={state.search} label={t("alerts.search")} onChange={(search) => onChange({ search })} />
      <FilterSelect
        label={t("alerts.filterState")}
        any={t("alerts.allStates")}
        value={state.state}
        values={LIST_STATES}
        name={(value) => t(`alerts.state_${value}`)}
        onChange={(value) => onChange({ state: value })}
      />
      <FilterSelect
        label={t("alerts.filterSeverity")}
        any={t("alerts.allSeverities")}
        value={state.severity}
        values={known}
        name={(severity) => severity}
        onChange={(severity) => onChange({ severity })}
      />
    </FilterBar>
  );
}
