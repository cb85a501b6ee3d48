import { useTranslation } from "react-i18next";
import type { MeasuredImpact } from "@/api/runs/types";
import { detailOf, formatMeasure } from "@/lib/run-text";
import { useLocale } from "@/lib/use-locale";
import { Table } from "@/ui/list/table";
import { StateMark } from "@/ui/state-mark";
import { Dim, Hint } from "@/ui/text/text";
import classes from "../page/run-page.module.css";
import { THRESHOLD_TONES } from "../results/threshold-table";

/** Expected and measured side by side, as the server computed it of what is saved. */
export function MeasuredTable({ measured }: { measured: readonly MeasuredImpact[] }) {
  const { t } = useTranslation();
  const locale = useLocale();
  if (measured.length === 0) return <Hint>{t("runs.review.nothingMeasured")}</Hint>;
  return (
    <Table label={t("runs.review.measuredTable")} bare className={classes.table}>
      <thead>
        <tr>
          <th scope="col">{t("runs.review.what")}</th>
          <th scope="col" data-number>
            {t("runs.page.expected")}
          </th>
          <th scope="col" data-number>
            {t("runs.page.actual")}
          </th>
          <th scope="col" data-number>
            {t("runs.page.baseline")}
          </th>
          <th scope="col">{t("runs.column_verdict")}</th>
        </tr>
      </thead>
      <tbody>
        {measured.map((row) => (
          <tr key={row.expression}>
            <th scope="row">
              <code>{row.expression}</code>
              {row.detail !== "" && <span className={classes.detail}>{detailOf(row, locale)}</span>}
            </th>
            <td data-number>{formatMeasure(row.expected, row.unit, locale)}</td>
            <td data-number>
              <strong>{formatMeasure(row.actual, row.unit, locale)}</strong>
            </td>
            <td data-number data-dim="true">
              {formatMeasure(row.baseline, row.unit, locale)}
            </td>
            <td>
              {row.expected === null ? (
                <Dim>{t("runs.review.watched")}</Dim>
              ) : (
                <StateMark tone={THRESHOLD_TONES[row.state]} label={t(`runs.page.threshold_${row.state}`)} />
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}
