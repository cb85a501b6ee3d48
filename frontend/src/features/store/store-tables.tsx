import { useTranslation } from "react-i18next";
import type { StoreFigures, StoreGroup } from "@/api/store/types";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { Table } from "@/ui/list/table";
import { Dim } from "@/ui/text/text";

/** Metrics or jobs with what they take. */
export function GroupTable({ label, groups }: { label: string; groups: readonly StoreGroup[] }) {
  const { t } = useTranslation();
  const locale = useLocale();
  return (
    <Table bare label={label}>
      <thead>
        <tr>
          <th scope="col">{t("store.name")}</th>
          <th scope="col" data-number="true">
            {t("store.count")}
          </th>
          <th scope="col" data-number="true">
            {t("store.samples")}
          </th>
          <th scope="col" data-number="true">
            {t("store.bytes")}
          </th>
        </tr>
      </thead>
      <tbody>
        {groups.map((group) => (
          <tr key={group.name}>
            <th scope="row">{group.name === "" ? <Dim>{t("store.none")}</Dim> : group.name}</th>
            <td data-number="true">{formatValue(group.series, "count", locale)}</td>
            <td data-number="true">{formatValue(group.samples, "count", locale)}</td>
            <td data-number="true">{formatValue(group.bytes, "bytes", locale)}</td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

/** Labels with how many values each has. */
export function LabelTable({ labels }: { labels: StoreFigures["labels"] }) {
  const { t } = useTranslation();
  const locale = useLocale();
  return (
    <Table bare label={t("store.byLabel")}>
      <thead>
        <tr>
          <th scope="col">{t("store.label")}</th>
          <th scope="col" data-number="true">
            {t("store.values")}
          </th>
        </tr>
      </thead>
      <tbody>
        {labels.map((one) => (
          <tr key={one.name}>
            <th scope="row">{one.name}</th>
            <td data-number="true">{formatValue(one.values, "count", locale)}</td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}
