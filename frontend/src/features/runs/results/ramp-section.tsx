import { useTranslation } from "react-i18next";
import type { Ramp } from "@/api/runs/types";
import { formatElapsed, formatSuccess } from "@/lib/run-text";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { Table } from "@/ui/list/table";
import { Section } from "@/ui/page/section";
import { StateMark } from "@/ui/state-mark";
import { Fact, Facts } from "@/ui/text/facts";
import { Dim } from "@/ui/text/text";
import classes from "../page/run-page.module.css";

/** A growing load: the highest rate that was held, and from where on it was not. */
export function RampSection({ ramp }: { ramp: Ramp }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const rate = (value: number | null) => formatValue(value, "per_second", locale);
  const most = Math.max(1, ...ramp.steps.map((step) => step.offered_rate));
  return (
    <Section id="ramp" title={t("runs.page.nav_ramp")}>
      <Facts>
        <Fact leads name={t("runs.page.sustained")}>
          {rate(ramp.sustained_rate)}
        </Fact>
        <Fact leads name={t("runs.page.knee")}>
          {ramp.knee_rate === null ? t("runs.page.noKnee") : rate(ramp.knee_rate)}
          {ramp.knee_seconds !== null && (
            <Dim> {t("runs.page.kneeAt", { time: formatElapsed(ramp.knee_seconds) })}</Dim>
          )}
        </Fact>
      </Facts>
      <Table label={t("runs.page.rampTable")} bare className={classes.table}>
        <thead>
          <tr>
            <th scope="col">{t("runs.page.step")}</th>
            <th scope="col" data-number>
              {t("runs.page.offered")}
            </th>
            <th scope="col" data-number>
              {t("runs.page.answeredOk")}
            </th>
            <th scope="col" className={classes.barCell}>
              <span className="lw-visually-hidden">{t("runs.page.goodShare")}</span>
            </th>
            <th scope="col" data-number>
              p95
            </th>
            <th scope="col" data-number>
              {t("runs.page.figure_failures")}
            </th>
            <th scope="col">{t("runs.column_verdict")}</th>
          </tr>
        </thead>
        <tbody>
          {ramp.steps.map((step) => (
            <tr key={step.from_seconds}>
              <th scope="row">
                {formatElapsed(step.from_seconds)}–{formatElapsed(step.to_seconds)}
              </th>
              <td data-number>{rate(step.offered_rate)}</td>
              <td data-number>{rate(step.ok_rate)}</td>
              <td className={classes.barCell}>
                <StepBar offered={step.offered_rate / most} ok={step.ok_rate / most} />
              </td>
              <td data-number>{formatValue(step.p95_seconds, "seconds", locale)}</td>
              <td data-number>{step.failure_ratio === 0 ? "0%" : formatSuccess(step.failure_ratio)}</td>
              <td>
                <StateMark
                  tone={step.held ? "ok" : "bad"}
                  label={step.held ? t("runs.page.held") : t("runs.page.notHeld")}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </Table>
    </Section>
  );
}

function StepBar({ offered, ok }: { offered: number; ok: number }) {
  return (
    <svg className={classes.stepBar} viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
      <rect className={classes.offered} width={offered * 100} height="8" />
      <rect className={classes.good} width={ok * 100} height="8" />
    </svg>
  );
}
