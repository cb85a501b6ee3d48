import { TextInput } from "@mantine/core";
import { useDeferredValue, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Endpoint } from "@/api/run-types";
import {
  DEFAULT_ENDPOINT_SORT,
  ENDPOINT_FIELDS,
  type EndpointField,
  endpointValue,
  filterEndpoints,
  sortEndpoints,
} from "@/lib/run-endpoints";
import { failures, formatCount, formatSuccess } from "@/lib/run-text";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { Icon } from "@/ui/icon";
import classes from "./run-page.module.css";
import { Section } from "./section";

/** Rows are added by as many: a thousand at once would hold the page for a moment. */
const PAGE = 50;

/** Figures of every endpoint over the whole run. */
export function EndpointTable({ endpoints }: { endpoints: readonly Endpoint[] }) {
  const { t } = useTranslation();
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
        endpoints.length > 8 ? (
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
        ) : (
          t("runs.page.overWhole")
        )
      }
    >
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className={classes.scroll} tabIndex={0} aria-label={t("runs.page.endpointTable")}>
        <table className={classes.table}>
          <thead>
            <tr>
              {ENDPOINT_FIELDS.map((field) => {
                const order = sort.field !== field ? "none" : sort.descending ? "descending" : "ascending";
                return (
                  <th key={field} scope="col" aria-sort={order} data-number={field !== "name"}>
                    <button type="button" onClick={() => pick(field)}>
                      {t(`runs.page.endpoint_${field}`)}
                      <span className={classes.arrow} data-order={order}>
                        <Icon name="chevronDown" size={11} />
                      </span>
                    </button>
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, count).map((endpoint) => (
              <Row key={endpoint.name} endpoint={endpoint} />
            ))}
          </tbody>
        </table>
      </section>
      {rows.length === 0 && <p className={classes.hint}>{t("runs.page.noEndpoint")}</p>}
      {rows.length > count && (
        <button type="button" className={classes.toggle} onClick={() => setCount(count + 5 * PAGE)}>
          {t("runs.page.moreRows", { shown: count, total: rows.length })}
        </button>
      )}
    </Section>
  );
}

function Row({ endpoint }: { endpoint: Endpoint }) {
  const locale = useLocale();
  const seconds = (field: EndpointField) =>
    formatValue(endpointValue(endpoint, field) as number | null, "seconds", locale);
  return (
    <tr>
      <th scope="row" className={classes.endpointName}>
        {endpoint.name}
      </th>
      <td data-number>{formatCount(endpoint.requests)}</td>
      <td data-number>{formatValue(endpoint.rate, "per_second", locale)}</td>
      <td data-number>{formatSuccess(endpoint.success_ratio)}</td>
      <td data-number>{formatCount(failures(endpoint.outcomes))}</td>
      <td data-number>{seconds("mean")}</td>
      <td data-number>{seconds("p50")}</td>
      <td data-number>{seconds("p95")}</td>
      <td data-number>{seconds("p99")}</td>
      <td data-number>{seconds("max")}</td>
      <td data-number>{seconds("total")}</td>
    </tr>
  );
}
