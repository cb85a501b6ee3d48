import { TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { runPercentilesQuery } from "@/api/runs/queries";
import type { Endpoint, Run, RunPercentiles } from "@/api/runs/types";
import { failures, formatCount, formatSuccess } from "@/lib/run-text";
import { byRank, type Percentile } from "@/lib/series/percentiles";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { Icon } from "@/ui/icon";
import { SortHead, sortOrder, Table } from "@/ui/list/table";
import { Section } from "@/ui/page/section";
import { Hint, TextButton } from "@/ui/text/text";
import {
  DEFAULT_ENDPOINT_SORT,
  type EndpointField,
  endpointValue,
  filterEndpoints,
  sortEndpoints,
} from "../model/endpoints";
import { usePercentiles } from "../model/use-percentiles";
import classes from "../page/run-page.module.css";

/** Rows are added by as many: a thousand at once would hold the page for a moment. */
const PAGE = 50;

/** Figures of every endpoint over the window that is told beside the title, however many there are. */
export function EndpointTable({ run }: { run: Run }) {
  const { t } = useTranslation();
  const window = run.endpoints_window ?? "whole";
  const [added] = usePercentiles();
  const percentiles = useQuery(runPercentilesQuery(run.id, added)).data;
  const endpoints = useMemo(() => withPercentiles(run.endpoints, percentiles), [run.endpoints, percentiles]);
  const fields = useMemo(() => [...BEFORE, ...[...SHOWN, ...added].sort(byRank), ...AFTER], [added]);
  const [text, setText] = useState("");
  const wanted = useDeferredValue(text);
  const [sort, setSort] = useState(DEFAULT_ENDPOINT_SORT);
  const [count, setCount] = useState(PAGE);
  const rows = useMemo(() => sortEndpoints(filterEndpoints(endpoints, wanted), sort), [endpoints, wanted, sort]);
  const pick = (field: EndpointField) =>
    setSort((held) => ({ field, descending: held.field === field ? !held.descending : field !== "name" }));
  return (
    <Section
      id="endpoints"
      title={t("runs.page.nav_endpoints")}
      aside={
        <span className={classes.endpointAside}>
          {t(window === "steady" ? "runs.page.overSteady" : "runs.page.overWhole")}
          {endpoints.length > 8 && (
            <TextInput
              size="xs"
              type="search"
              aria-label={t("runs.page.filterEndpoints")}
              placeholder={t("runs.page.filterEndpoints")}
              leftSection={<Icon name="search" size={12} />}
              value={text}
              onChange={(event) => {
                setText(event.currentTarget.value);
                setCount(PAGE);
              }}
            />
          )}
        </span>
      }
    >
      <Table label={t("runs.page.endpointTable")} bare className={classes.table}>
        <thead>
          <tr>
            {fields.map((field) => (
              <SortHead
                key={field}
                order={sortOrder(sort.field === field, sort.descending)}
                number={field !== "name"}
                onSort={() => pick(field)}
              >
                {isPercentile(field) ? field : t(`runs.page.endpoint_${field}`)}
              </SortHead>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, count).map((endpoint) => (
            <Row key={endpoint.name} endpoint={endpoint} fields={fields} />
          ))}
        </tbody>
      </Table>
      {added.length > 0 && percentiles?.endpoints_detail === "not-kept" && (
        <Hint>{t("percentiles.endpointsNotKept")}</Hint>
      )}
      {rows.length === 0 && <Hint>{t("runs.page.noEndpoint")}</Hint>}
      {rows.length > count && (
        <TextButton onClick={() => setCount(count + 5 * PAGE)}>
          {t("runs.page.moreRows", { shown: count, total: rows.length })}
        </TextButton>
      )}
    </Section>
  );
}

function Row({ endpoint, fields }: { endpoint: Endpoint; fields: readonly EndpointField[] }) {
  const locale = useLocale();
  const counted: readonly EndpointField[] = BEFORE;
  return (
    <tr>
      <th scope="row" className={classes.endpointName}>
        {endpoint.name}
      </th>
      <td data-number>{formatCount(endpoint.requests)}</td>
      <td data-number>{formatValue(endpoint.rate, "per_second", locale)}</td>
      <td data-number>{formatSuccess(endpoint.success_ratio)}</td>
      <td data-number>{formatCount(failures(endpoint.outcomes))}</td>
      {fields
        .filter((field) => field === "mean" || !counted.includes(field))
        .map((field) => (
          <td key={field} data-number>
            {formatValue(endpointValue(endpoint, field) as number | null, "seconds", locale)}
          </td>
        ))}
    </tr>
  );
}

const BEFORE = ["name", "requests", "rate", "success", "failures", "mean"] as const;
const SHOWN = ["p50", "p95", "p99"] as const;
const AFTER = ["max", "total"] as const;
const isPercentile = (field: EndpointField): field is Percentile => /^p\d/.test(field);

function withPercentiles(endpoints: readonly Endpoint[], found: RunPercentiles | undefined) {
  if (found === undefined) return endpoints;
  const names = found.percentiles.map(({ name }) => name);
  const known = new Map(found.endpoints.map(({ name, seconds }) => [name, seconds]));
  return endpoints.map((endpoint) => ({
    ...endpoint,
    percentiles: Object.fromEntries(names.map((name, place) => [name, known.get(endpoint.name)?.[place] ?? null])),
  }));
}
