import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { cardinalityQuery, labelValuesQuery, metadataQuery } from "@/api/explore/queries";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { QueryFault } from "@/ui/fault/query-fault";
import { SearchField } from "@/ui/list/search-field";
import { Table } from "@/ui/list/table";
import { Loading } from "@/ui/loading";
import { Section } from "@/ui/page/section";
import { Hint, TextButton } from "@/ui/text/text";
import classes from "./explore.module.css";
import { factsOf, matching } from "./metrics";

/** The series of those that are listed are counted by one query. */
const MOST_LISTED = 50;

/** All metrics by name and help, with what they are and how many series each has now. */
export function MetricFinder({ onPick }: { onPick: (name: string) => void }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const [text, setText] = useState("");
  const names = useQuery(labelValuesQuery("__name__"));
  const metadata = useQuery(metadataQuery).data;
  const found = matching(names.data ?? [], metadata, text);
  const listed = found.slice(0, MOST_LISTED);
  const counts = useQuery(cardinalityQuery(listed)).data;
  return (
    <Section title={t("explore.metrics")} aside={names.data && t("explore.metricsHint", { count: names.data.length })}>
      <QueryFault title={t("explore.metricsFailed")} query={names} />
      {names.isPending && <Loading height={200} label={t("explore.loading")} />}
      {names.data !== undefined && (
        <>
          <SearchField label={t("explore.search")} value={text} onChange={setText} />
          {listed.length === 0 ? (
            <Hint>{t("explore.noMetric")}</Hint>
          ) : (
            <Table bare label={t("explore.metrics")} className={classes.metrics ?? ""}>
              <thead>
                <tr>
                  <th scope="col">{t("explore.metric")}</th>
                  <th scope="col">{t("explore.type")}</th>
                  <th scope="col" data-number="true">
                    {t("explore.series")}
                  </th>
                  <th scope="col">{t("explore.help")}</th>
                </tr>
              </thead>
              <tbody>
                {listed.map((name) => (
                  <tr key={name}>
                    <td>
                      <TextButton title={t("explore.insert", { name })} onClick={() => onPick(name)}>
                        <code>{name}</code>
                      </TextButton>
                    </td>
                    <td>{factsOf(metadata, name)?.type}</td>
                    <td data-number="true">{counts && formatValue(counts.get(name) ?? 0, "count", locale)}</td>
                    <td>{factsOf(metadata, name)?.help}</td>
                  </tr>
                ))}
              </tbody>
            </Table>
          )}
          {found.length > listed.length && <Hint>{t("explore.more", { count: found.length - listed.length })}</Hint>}
        </>
      )}
    </Section>
  );
}
