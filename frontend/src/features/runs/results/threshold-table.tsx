import { useTranslation } from "react-i18next";
import type { Run, Threshold, ThresholdState } from "@/api/runs/types";
import { detailOf, formatMeasure } from "@/lib/run-text";
import { useLocale } from "@/lib/use-locale";
import { Table } from "@/ui/list/table";
import { Section } from "@/ui/page/section";
import { StateMark, type Tone } from "@/ui/state-mark";
import { Hint } from "@/ui/text/text";
import classes from "../page/run-page.module.css";
import { GeneratorPanel } from "./generator-panel";

export const THRESHOLD_TONES: Readonly<Record<ThresholdState, Tone>> = {
  passed: "ok",
  failed: "bad",
  unknown: "unknown",
};

/** What was demanded of the run, what became of each, and whether the generator could tell at all. */
export function ThresholdTable({ run }: { run: Run }) {
  const { t } = useTranslation();
  const { thresholds } = run;
  const passed = thresholds.filter(({ state }) => state === "passed").length;
  return (
    <div className={classes.stack}>
      <Section
        id="thresholds"
        title={t("runs.fact_thresholds")}
        aside={thresholds.length > 0 && t("runs.page.passedOf", { passed, total: thresholds.length })}
      >
        {thresholds.length === 0 ? (
          <Hint>{t("runs.page.noThresholds")}</Hint>
        ) : (
          <Expectations rows={thresholds} label={t("runs.page.thresholdTable")} />
        )}
      </Section>
      {run.expectations.length > 0 && (
        <Section id="expectations" title={t("runs.page.expectations")}>
          <Expectations rows={run.expectations} label={t("runs.page.expectationTable")} />
        </Section>
      )}
      {run.generator && run.state !== "running" && <GeneratorPanel check={run.generator} />}
    </div>
  );
}

function Expectations({ rows, label }: { rows: readonly Threshold[]; label: string }) {
  const { t } = useTranslation();
  const locale = useLocale();
  return (
    <Table label={label} bare className={classes.table}>
      <thead>
        <tr>
          <th scope="col">{t("runs.column_verdict")}</th>
          <th scope="col">{t("runs.page.expected")}</th>
          <th scope="col" data-number>
            {t("runs.page.actual")}
          </th>
          <th scope="col">{t("runs.page.over")}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.expression}>
            <td>
              <StateMark tone={THRESHOLD_TONES[row.state]} label={t(`runs.page.threshold_${row.state}`)} />
            </td>
            <th scope="row">
              <code>{row.expression}</code>
              {row.detail !== "" && <span className={classes.detail}>{detailOf(row, locale)}</span>}
            </th>
            <td data-number>
              <strong>{formatMeasure(row.actual, row.unit, locale)}</strong>
            </td>
            <td>
              <WindowName name={row.window} />
            </td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

function WindowName({ name }: { name: string }) {
  const { t } = useTranslation();
  if (name === "steady") return t("runs.page.over_steady");
  if (name === "whole") return t("runs.page.over_whole");
  return name.replace("..", "–");
}
