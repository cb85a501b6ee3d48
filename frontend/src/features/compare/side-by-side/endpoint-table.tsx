import { Button, SegmentedControl, TextInput } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { Comparison } from "@/api/compare/types";
import { SeriesMarker } from "@/charts/legend/legend";
import { formatChange } from "@/lib/run-text";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { Icon } from "@/ui/icon";
import { SortHead, sortOrder, Table } from "@/ui/list/table";
import classes from "../compare.module.css";
import { endpointRows, measureUnit, sortEndpoints } from "../model/endpoint-rows";
import { type CompareState, type EndpointSort, MEASURES, type Measure } from "../model/state";

interface Props {
  readonly data: Comparison;
  readonly slots: ReadonlyMap<string, number>;
  readonly state: CompareState;
  readonly onChange: (change: Partial<CompareState>) => void;
}

const SHOWN_AT_FIRST = 20;

/** One measure of every endpoint, group by group. */
export function EndpointTable({ data, slots, state, onChange }: Props) {
  const { t } = useTranslation();
  const [words, setWords] = useState("");
  const [all, showAll] = useState(false);
  if (data.endpoints.length === 0) return null;
  const rows = sortEndpoints(endpointRows(data.endpoints, state.measure, words), state.sort);
  const shown = all ? rows : rows.slice(0, SHOWN_AT_FIRST);
  return (
    <section aria-labelledby="compare-endpoints">
      <div className={classes.sectionHead}>
        <h2 id="compare-endpoints">{t("compare.endpoints")}</h2>
        <SegmentedControl
          size="xs"
          aria-label={t("compare.measure")}
          value={state.measure}
          onChange={(value) => onChange({ measure: value as Measure })}
          data={[
            ...MEASURES.map((value) => ({ value: value as string, label: t(`compare.measure_${value}`) })),
            ...state.percentiles.map((value) => ({ value: value as string, label: value })),
          ]}
        />
        <strong className={classes.onPaper}>
          {MEASURES.some((one) => one === state.measure)
            ? t(`compare.measure_${state.measure as (typeof MEASURES)[number]}`)
            : state.measure}
        </strong>
        <TextInput
          size="xs"
          aria-label={t("compare.findEndpoint")}
          placeholder={t("compare.findEndpoint")}
          leftSection={<Icon name="search" size={13} />}
          value={words}
          onChange={(event) => setWords(event.currentTarget.value)}
        />
      </div>
      <Table label={t("compare.tableOf", { title: t("compare.endpoints") })} className={classes.table}>
        <EndpointHead data={data} slots={slots} sort={state.sort} onSort={(sort) => onChange({ sort })} />
        <tbody>
          {shown.map((row) => (
            <tr key={row.name}>
              <th scope="row" className={classes.endpoint}>
                {row.name}
              </th>
              {row.values.map((value, place) => (
                <EndpointCell
                  key={data.groups[place]?.id ?? place}
                  value={value}
                  delta={row.deltas[place] ?? null}
                  measure={state.measure}
                  isBase={place === 0}
                />
              ))}
            </tr>
          ))}
        </tbody>
      </Table>
      {rows.length === 0 && <p className={classes.foot}>{t("compare.noEndpoint")}</p>}
      {rows.length > shown.length && (
        <Button size="compact-xs" variant="default" mt={6} onClick={() => showAll(true)}>
          {t("compare.allEndpoints", { count: rows.length })}
        </Button>
      )}
    </section>
  );
}

interface HeadProps {
  readonly data: Comparison;
  readonly slots: ReadonlyMap<string, number>;
  readonly sort: EndpointSort;
  readonly onSort: (sort: EndpointSort) => void;
}

function EndpointHead({ data, slots, sort, onSort }: HeadProps) {
  const { t } = useTranslation();
  const column = (at: EndpointSort["column"], delta: boolean) => {
    const held = sort.column === at && sort.delta === delta;
    // Names begin with A, figures with the greatest.
    const pick = () => onSort({ column: at, delta, descending: held ? !sort.descending : at !== "name" });
    return { order: sortOrder(held, sort.descending), pick };
  };
  const name = column("name", false);
  return (
    <thead>
      <tr>
        <SortHead order={name.order} onSort={name.pick}>
          {t("compare.endpoint")}
        </SortHead>
        {data.groups.flatMap((group, place) => {
          const value = column(place, false);
          const delta = column(place, true);
          const head = (
            <SortHead key={group.id} number order={value.order} onSort={value.pick}>
              <SeriesMarker
                series={{ id: group.id, name: group.label, values: [] }}
                slot={slots.get(group.id) ?? place}
              />
              <span className={classes.columnName}>{group.label}</span>
            </SortHead>
          );
          if (place === 0) return [head];
          return [
            head,
            <SortHead key={`${group.id} delta`} number order={delta.order} onSort={delta.pick}>
              {t("compare.change")}
            </SortHead>,
          ];
        })}
      </tr>
    </thead>
  );
}

interface CellProps {
  readonly value: number | null;
  readonly delta: number | null;
  readonly measure: Measure;
  readonly isBase: boolean;
}

function EndpointCell({ value, delta, measure, isBase }: CellProps) {
  const locale = useLocale();
  return (
    <>
      <td data-number>{formatValue(value, measureUnit(measure), locale)}</td>
      {!isBase && <td data-number>{delta === null ? "–" : formatChange(delta)}</td>}
    </>
  );
}
