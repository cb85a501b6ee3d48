import { Button, MultiSelect, Popover, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { runFacetsQuery } from "@/api/runs/queries";
import type { FilterFact } from "@/api/runs/types";
import { Icon } from "@/ui/icon";
import { FilterBar, FilterSelect } from "@/ui/list/filter-bar";
import { SearchField } from "@/ui/list/search-field";
import { Dim, TextButton } from "@/ui/text/text";
import {
  activeFilters,
  FILTER_FACTS,
  type Filter,
  PERIODS,
  RUN_SORTS,
  RUN_STATES,
  type RunListState,
  sortBy,
  VERDICTS,
  withoutFilter,
  withoutFilters,
} from "../model/list-state";
import classes from "./runs-page.module.css";
import type { ChangeRunList } from "./use-run-list";

interface Props {
  readonly state: RunListState;
  readonly onChange: ChangeRunList;
  readonly narrow: boolean;
}

interface Counted {
  readonly value: string;
  readonly count: number;
}

/** Those that do not stand in the bar itself. */
const MORE = FILTER_FACTS.filter(({ name }) => name !== "scenario");
const isFact = (name: Filter | "tag"): name is FilterFact => FILTER_FACTS.some((fact) => fact.name === name);

const options = (values: readonly Counted[] | undefined, held: string | null) => {
  const known = (values ?? []).map(({ value, count }) => ({ value, label: `${value} (${count})` }));
  // A filter out of an address may name what no run has; it must still be shown to be taken back.
  return held === null || known.some(({ value }) => value === held) ? known : [...known, { value: held, label: held }];
};

/** Search, filters, and what of them is set. */
export function RunsFilters({ state, onChange, narrow }: Props) {
  const { t } = useTranslation();
  const facets = useQuery({ ...runFacetsQuery, refetchInterval: 60_000 });
  const [open, setOpen] = useState(false);
  const set = (part: Partial<RunListState>) => onChange((held) => ({ ...held, ...part }));
  const data = facets.data;
  const active = activeFilters(state);
  const filterName = (name: Filter | "tag") => (isFact(name) ? t(`runs.fact_${name}`) : t(`runs.filter_${name}`));
  return (
    <FilterBar label={t("runs.filters")}>
      <SearchField label={t("runs.search")} value={state.q} onChange={(q) => set({ q })} />
      <Pick
        label={t("runs.fact_scenario")}
        value={state.scenario}
        data={options(data?.scenarios, state.scenario)}
        onChange={(scenario) => set({ scenario })}
      />
      <Pick
        label={t("runs.filter_verdict")}
        value={state.verdict}
        data={VERDICTS.map((value) => ({ value, label: t(`runs.verdict_${value}`) }))}
        onChange={(value) => set({ verdict: VERDICTS.find((one) => one === value) ?? null })}
      />
      <Popover opened={open} onChange={setOpen} position="bottom-start" shadow="md" trapFocus returnFocus width={300}>
        <Popover.Target>
          <Button
            variant="default"
            size="sm"
            leftSection={<Icon name="filter" size={14} />}
            onClick={() => setOpen(!open)}
            aria-expanded={open}
          >
            {t("runs.moreFilters")}
          </Button>
        </Popover.Target>
        <Popover.Dropdown aria-label={t("runs.moreFilters")} className={classes.moreFilters ?? ""}>
          <Pick
            label={t("runs.filter_state")}
            value={state.state}
            data={RUN_STATES.map((value) => ({ value, label: t(`runs.state_${value}`) }))}
            onChange={(value) => set({ state: RUN_STATES.find((one) => one === value) ?? null })}
            labelled
          />
          <Pick
            label={t("runs.filter_period")}
            value={state.period}
            data={PERIODS.map((value) => ({ value, label: t(`runs.period_${value}`) }))}
            onChange={(value) => set({ period: PERIODS.find((one) => one === value) ?? null })}
            labelled
          />
          {MORE.map(({ name, facet }) => (
            <Pick
              key={name}
              label={t(`runs.fact_${name}`)}
              value={state[name]}
              data={options(data?.[facet], state[name])}
              onChange={(value) => set({ [name]: value })}
              labelled
            />
          ))}
          <MultiSelect
            label={t("runs.filter_tag")}
            size="xs"
            searchable
            clearable
            comboboxProps={{ withinPortal: false }}
            value={[...state.tags]}
            data={[...new Set([...(data?.tags.map(({ value }) => value) ?? []), ...state.tags])]}
            onChange={(tags) => set({ tags })}
          />
          <TextInput
            label={t("runs.filter_commit")}
            size="xs"
            defaultValue={state.commit ?? ""}
            onBlur={(event) => set({ commit: event.currentTarget.value.trim() || null })}
            onKeyDown={(event) => {
              if (event.key === "Enter") set({ commit: event.currentTarget.value.trim() || null });
            }}
          />
        </Popover.Dropdown>
      </Popover>
      {narrow && (
        <FilterSelect
          label={t("runs.sortBy")}
          value={state.sort}
          values={RUN_SORTS}
          name={(sort) => `${t("runs.sortBy")}: ${t(`runs.sort_${sort}`)}`}
          onChange={(sort) => sort !== null && onChange((held) => sortBy(held, sort))}
        />
      )}
      {active.length > 0 && (
        <ul className={classes.active} aria-label={t("runs.activeFilters")}>
          {active.map(({ name, value }) => (
            <li key={`${name} ${value}`}>
              <button
                type="button"
                className={classes.chip}
                onClick={() => onChange((held) => withoutFilter(held, name, value))}
                aria-label={t("runs.removeFilter", { name: filterName(name), value })}
              >
                <Dim>{filterName(name)}</Dim> {value}
                <Icon name="close" size={11} />
              </button>
            </li>
          ))}
          <li>
            <TextButton onClick={() => onChange(withoutFilters)}>{t("runs.clearFilters")}</TextButton>
          </li>
        </ul>
      )}
    </FilterBar>
  );
}

interface PickProps {
  readonly label: string;
  readonly value: string | null;
  readonly data: readonly { readonly value: string; readonly label: string }[];
  readonly onChange: (value: string | null) => void;
  readonly labelled?: boolean;
}

function Pick({ label, value, data, onChange, labelled = false }: PickProps) {
  return (
    <Select
      className={labelled ? "" : (classes.pickField ?? "")}
      {...(labelled ? { label, size: "xs" } : { "aria-label": label, placeholder: label, size: "sm" })}
      clearable
      searchable={data.length > 7}
      comboboxProps={{ withinPortal: false }}
      value={value}
      data={[...data]}
      onChange={onChange}
    />
  );
}
