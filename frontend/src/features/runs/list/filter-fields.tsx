import { TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { runFacetsQuery } from "@/api/runs/queries";
import type { FilterFact } from "@/api/runs/types";
import { FilterSelect } from "@/ui/list/filter-bar";
import { SearchField } from "@/ui/list/search-field";
import { FILTER_FACTS, FILTERS, type RunFilterName, type RunFilters, VERDICTS } from "./filters";
import classes from "./runs-page.module.css";

const USUAL: readonly RunFilterName[] = ["scenario", "tag", "verdict", "finding", "actions", "since", "until"];

interface Props {
  readonly filters: RunFilters;
  /** Ids of findings that runs in sight have. */
  readonly findings: readonly string[];
  /** The change builds on the filters of that moment: an address is written before it is rendered. */
  readonly onChange: (next: (held: RunFilters) => RunFilters) => void;
}

/** Search and filters of the list; one that only the address asks for stands there as long as it does. */
export function FilterFields({ filters, findings, onChange }: Props) {
  const { t } = useTranslation();
  const { data: facets } = useQuery({ ...runFacetsQuery, refetchInterval: 60_000 });
  const set = (name: RunFilterName, value: string | null) =>
    onChange(({ values: { [name]: _, ...others }, ...held }) => ({
      ...held,
      values: value === null || value === "" ? others : { ...others, [name]: value },
    }));
  const labelOf = (name: RunFilterName) => {
    const fact = FILTER_FACTS.find((one) => one.name === name);
    return fact === undefined
      ? t(`runs.filter_${name as Exclude<RunFilterName, FilterFact>}`)
      : t(`runs.fact_${fact.name}`);
  };
  const valuesOf = (name: RunFilterName): readonly string[] => {
    if (name === "verdict") return VERDICTS;
    if (name === "actions") return ["open"];
    if (name === "finding") return [...findings, "none", "cannot-tell"];
    const facet = name === "tag" ? "tags" : FILTER_FACTS.find((fact) => fact.name === name)?.facet;
    return facet === undefined ? [] : (facets?.[facet] ?? []).map(({ value }) => value);
  };
  const nameOf = (name: RunFilterName, value: string) => {
    if (name === "verdict") return t(`runs.verdict_${value as (typeof VERDICTS)[number]}`);
    if (name === "actions") return t("actions.state_open");
    if (name === "state") return t(`runs.state_${value as "running"}`);
    return name === "finding" && (value === "none" || value === "cannot-tell") ? t(`runs.limit_${value}`) : value;
  };
  return (
    <>
      <SearchField
        label={t("runs.search")}
        placeholder={t("runs.searchExample")}
        value={filters.q}
        onChange={(q) => onChange((held) => ({ ...held, q }))}
      />
      {FILTERS.filter((name) => USUAL.includes(name) || filters.values[name] !== undefined).map((name) => {
        const label = labelOf(name);
        const value = filters.values[name] ?? null;
        if (name === "since" || name === "until")
          return (
            <TextInput
              key={name}
              type="date"
              size="sm"
              aria-label={label}
              title={label}
              value={value ?? ""}
              onChange={(event) => set(name, event.currentTarget.value)}
            />
          );
        const known = valuesOf(name);
        return (
          <FilterSelect
            key={name}
            label={label}
            any={t("runs.filterAny", { name: label })}
            value={value}
            values={value === null || known.includes(value) ? known : [value, ...known]}
            name={(one) => `${label}: ${nameOf(name, one)}`}
            onChange={(chosen) => set(name, chosen)}
          />
        );
      })}
      {filters.ignored.length > 0 && (
        <p className={classes.keys} role="status">
          {t("runs.filterIgnored", { terms: filters.ignored.join(" ") })}
        </p>
      )}
    </>
  );
}
