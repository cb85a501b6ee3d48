import { useTranslation } from "react-i18next";
import type { Comparison } from "@/api/compare/types";
import { formatMeasure } from "@/lib/run-text";
import { useLocale } from "@/lib/use-locale";
import { Table } from "@/ui/list/table";
import { Dim } from "@/ui/text/text";
import classes from "../compare.module.css";
import { type DifferenceRow, differences } from "../model/difference-rows";
import { GroupHead } from "./signals-table";

/** What was changed between the groups: commit and parameters, settings changed on purpose, then what drifted. */
export function DifferencesSection({ data, slots }: { data: Comparison; slots: ReadonlyMap<string, number> }) {
  const { t } = useTranslation();
  const { facts, deliberate, drift, missing } = differences(data);
  const purpose = [...facts, ...deliberate];
  return (
    <section aria-labelledby="compare-differences">
      <div className={classes.sectionHead}>
        <h2 id="compare-differences">{t("compare.differences")}</h2>
        <Dim>{t("compare.differencesHint")}</Dim>
      </div>
      {purpose.length > 0 ? (
        <DifferenceTable title={t("compare.differences")} data={data} slots={slots} rows={purpose} />
      ) : (
        <p className={classes.foot}>{t("compare.nothingDiffers")}</p>
      )}
      {missing.length > 0 && <p className={classes.foot}>{t("compare.noSnapshot", { groups: missing.join(", ") })}</p>}
      {drift.length > 0 && (
        <details className={classes.drift}>
          <summary>{t("compare.drift", { count: drift.length })}</summary>
          <DifferenceTable title={t("compare.drift", { count: drift.length })} data={data} slots={slots} rows={drift} />
        </details>
      )}
    </section>
  );
}

interface TableProps {
  readonly title: string;
  readonly data: Comparison;
  readonly slots: ReadonlyMap<string, number>;
  readonly rows: readonly DifferenceRow[];
}

function DifferenceTable({ title, data, slots, rows }: TableProps) {
  const { t } = useTranslation();
  return (
    <Table label={t("compare.tableOf", { title })} className={classes.table}>
      <thead>
        <tr>
          <th scope="col">{t("compare.setting")}</th>
          {data.groups.map((group, place) => (
            <GroupHead key={group.id} group={group} slot={slots.get(group.id) ?? place} />
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.key}>
            <th scope="row">
              <DifferenceName row={row} />
            </th>
            {row.values.map((value, place) => (
              <td key={data.groups[place]?.id ?? place} data-changed={place > 0 && value !== row.values[0]}>
                <DifferenceValue row={row} value={value} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

function DifferenceName({ row }: { row: DifferenceRow }) {
  const { t } = useTranslation();
  if (row.fact !== null && row.fact !== "parameters") return t(`runs.fact_${row.fact}`);
  return (
    <>
      {row.name} <Dim>{row.fact === null ? row.target : t("compare.parameter")}</Dim>
    </>
  );
}

function DifferenceValue({ row, value }: { row: DifferenceRow; value: string | null }) {
  const { t } = useTranslation();
  const locale = useLocale();
  if (value === null) return <Dim>{t("compare.notSet")}</Dim>;
  if (row.fact === "dirty") return value === "true" ? t("compare.yes") : t("compare.no");
  const number = Number(value);
  if (row.unit !== "" && value.trim() !== "" && Number.isFinite(number)) return formatMeasure(number, row.unit, locale);
  return value;
}
