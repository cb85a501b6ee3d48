import { Switch } from "@mantine/core";
import { Fragment, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link, useNavigate } from "react-router";
import type { Sweep } from "@/api/compare/types";
import type { Verdict } from "@/api/runs/types";
import { XyChart } from "@/charts/xy/xy-chart";
import { XyKey } from "@/charts/xy/xy-key";
import { canBeLog } from "@/charts/xy/xy-scale";
import { formatMeasure } from "@/lib/run-text";
import { useLocale } from "@/lib/use-locale";
import { VERDICT_TONES } from "@/panels/run/run-mark";
import { Table } from "@/ui/list/table";
import { Notice } from "@/ui/page/notice";
import { Frame } from "@/ui/page/section";
import { StateMark } from "@/ui/state-mark";
import { Dim, Hint } from "@/ui/text/text";
import classes from "../compare.module.css";
import { runsPath, toUnit } from "../model/run-links";
import { MOST_RUNS } from "../model/state";
import { type SweepText, sweepMarks, sweepPoints, sweepTicks, valueText } from "../model/sweep-points";

interface Props {
  readonly sweep: Sweep;
  readonly stale: boolean;
  readonly isLog: boolean;
  readonly onLog: (isLog: boolean) => void;
}

export function SweepView({ sweep, stale, isLog, onLog }: Props) {
  const { t } = useTranslation();
  const text = useMemo(
    (): SweepText => ({
      best: t("compare.best"),
      diminishing: t("compare.diminishing"),
      both: t("compare.bestAndDiminishing"),
      runs: (count) => t("compare.repeats", { count }),
      leftOut: t("compare.leftOut"),
    }),
    [t],
  );
  const possible = canBeLog(sweep.points.map(({ value }) => value));
  const verdicts = new Set(sweep.points.map(({ verdict }) => verdict));
  const leftOut = sweep.points.some((point) => point.left_out.length > 0);
  const everyFirst = sweep.points.flatMap(({ runs }) => runs.slice(0, 1)).slice(0, MOST_RUNS);
  return (
    <div className={classes.body} aria-busy={stale}>
      <SweepHeadline sweep={sweep} />
      <SweepRemarks sweep={sweep} />
      <SweepChart sweep={sweep} scale={possible && isLog ? "log" : "linear"} text={text} />
      <div className={classes.sectionHead}>
        <XyKey
          items={[
            { look: "plain" as const, label: t("compare.keyMean") },
            ...(verdicts.has("failed") ? [{ look: "bad" as const, label: t("runs.verdict_failed") }] : []),
            ...(leftOut ? [{ look: "hollow" as const, label: text.leftOut }] : []),
          ]}
        />
        {possible && (
          <Switch
            size="xs"
            label={t("compare.logScale")}
            checked={isLog}
            onChange={(event) => onLog(event.currentTarget.checked)}
          />
        )}
        {everyFirst.length > 1 && (
          <Link className={classes.link} to={runsPath(everyFirst)}>
            {t("compare.overlayValues")}
          </Link>
        )}
      </div>
      <SweepTable sweep={sweep} text={text} />
    </div>
  );
}

function SweepChart({ sweep, scale, text }: { sweep: Sweep; scale: "linear" | "log"; text: SweepText }) {
  const navigate = useNavigate();
  const [active, setActive] = useState<string | null>(null);
  const ticks = useMemo(() => sweepTicks(sweep.points), [sweep.points]);
  const marks = useMemo(() => sweepMarks(sweep, text), [sweep, text]);
  const above = useMemo(() => sweepPoints(sweep, "x", text), [sweep, text]);
  const below = useMemo(() => sweepPoints(sweep, "y", text), [sweep, text]);
  const open = (id: string) => {
    const point = sweep.points.find(({ value }) => valueText(value) === id);
    void navigate(runsPath(point?.runs ?? [id]));
  };
  const { first, second } = sweep;
  const against = useMemo(
    () => ({ title: second.title, unit: toUnit(second.unit), help: second.help, points: below }),
    [second, below],
  );
  return (
    <Frame>
      <XyChart
        title={first.title}
        unit={toUnit(first.unit)}
        help={first.help}
        points={above}
        second={against}
        marks={marks}
        height={340}
        axisTitle={sweep.parameter}
        {...{ ticks, scale, active }}
        onActive={setActive}
        onPick={open}
      />
    </Frame>
  );
}

/** The best of those measured, and what to measure next. */
function SweepHeadline({ sweep }: { sweep: Sweep }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { best, next, parameter, first } = sweep;
  const figure = sweep.points.find(({ value }) => value === best)?.x ?? null;
  const bestText =
    best !== null
      ? t("compare.sweepBest", {
          value: `${parameter} = ${valueText(best)}`,
          figure: formatMeasure(figure, first.unit, locale),
        })
      : t("compare.sweepCannotTell");
  const step = next.value === null ? "" : t("compare.sweepTry", { value: valueText(next.value) });
  const beside = next.beside === null || next.beside === undefined ? "" : valueText(next.beside);
  return (
    <section aria-label={t("compare.headline")} className={classes.headlines}>
      <p className={classes.sentence}>{[bestText, step].filter(Boolean).join(" ")}</p>
      <Hint>{t(`compare.next_${next.reason}`, { best: best === null ? "" : valueText(best), beside })}</Hint>
    </section>
  );
}

/** What the headline says already is no remark any more. */
const SAID: readonly string[] = ["few-values", "best-is-last", "best-is-first"];
const PLAIN_REMARKS = ["single-runs"] as const;

function SweepRemarks({ sweep }: { sweep: Sweep }) {
  const { t } = useTranslation();
  const texts = sweep.remarks
    .filter((code) => !SAID.includes(code))
    .map((code) => {
      const [name = "", given = ""] = code.split(":");
      if (name === "not-numeric") return t("compare.sweepNotNumeric", { count: Number(given) });
      if (name === "left-out") return t("compare.sweepLeftOut", { count: Number(given) });
      if (name === "negative-scaling") return t("compare.sweepFalls", { value: valueText(Number(given)) });
      if (name === "mixed") return t("compare.sweepMixed", { names: given });
      const known = PLAIN_REMARKS.find((one) => one === name);
      return known === undefined ? code : t(`compare.sweep_${known}`);
    });
  if (sweep.tied.length > 1) {
    texts.unshift(t("compare.sweepTied", { values: sweep.tied.map(valueText).join(", ") }));
  }
  if (texts.length === 0) return null;
  return (
    <Notice role="status" framed>
      <ul>
        {texts.map((one) => (
          <li key={one}>{one}</li>
        ))}
      </ul>
    </Notice>
  );
}

function SweepTable({ sweep, text }: { sweep: Sweep; text: SweepText }) {
  const { t } = useTranslation();
  return (
    <Table label={t("compare.tableOf", { title: t("compare.sweepTitle") })} className={classes.table}>
      <thead>
        <tr>
          <th scope="col">{sweep.parameter}</th>
          <th scope="col">{t("compare.runs")}</th>
          <th scope="col" data-number>
            {sweep.first.title}
          </th>
          <th scope="col" data-number>
            {sweep.second.title}
          </th>
          <th scope="col">{t("compare.verdict")}</th>
          <th scope="col">{t("compare.marks")}</th>
        </tr>
      </thead>
      <tbody>
        {sweep.points.map((point) => (
          <Fragment key={point.value}>
            {point.runs.length > point.left_out.length && (
              <tr>
                <th scope="row">{valueText(point.value)}</th>
                <td>
                  <Link className={classes.link} to={runsPath(point.runs)}>
                    {text.runs(point.runs.length - point.left_out.length)}
                  </Link>
                </td>
                <Measured value={point.x} low={point.x_low} high={point.x_high} unit={sweep.first.unit} />
                <Measured value={point.y} low={point.y_low} high={point.y_high} unit={sweep.second.unit} />
                <VerdictCell verdict={point.verdict} />
                <td>
                  {[point.value === sweep.best && text.best, point.value === sweep.diminishing && text.diminishing]
                    .filter(Boolean)
                    .join(", ")}
                </td>
              </tr>
            )}
            {point.left_out.map(({ run, name, x, y, verdict }) => (
              <tr key={run}>
                <th scope="row">{valueText(point.value)}</th>
                <td>
                  <Link className={classes.link} to={runsPath([run])}>
                    {name || run}
                  </Link>
                </td>
                <Measured value={x} unit={sweep.first.unit} />
                <Measured value={y} unit={sweep.second.unit} />
                <VerdictCell verdict={verdict} />
                <td>
                  <Dim>{text.leftOut}</Dim>
                </td>
              </tr>
            ))}
          </Fragment>
        ))}
      </tbody>
    </Table>
  );
}

function Measured(props: { value: number | null; low?: number | null; high?: number | null; unit: string }) {
  const { value, low = null, high = null, unit } = props;
  const locale = useLocale();
  return (
    <td data-number>
      {formatMeasure(value, unit, locale)}
      {low !== null && high !== null && low !== high && (
        <div className={classes.interval}>
          {formatMeasure(low, unit, locale)} – {formatMeasure(high, unit, locale)}
        </div>
      )}
    </td>
  );
}

function VerdictCell({ verdict }: { verdict: string | null }) {
  const { t } = useTranslation();
  const known = verdict as Verdict | null;
  return (
    <td>
      {known === null ? <Dim>–</Dim> : <StateMark tone={VERDICT_TONES[known]} label={t(`runs.verdict_${known}`)} />}
    </td>
  );
}
