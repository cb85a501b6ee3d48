import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { runPercentilesQuery, runQuery } from "@/api/runs/queries";
import type { Figures, PercentileValue, Run } from "@/api/runs/types";
import { failures, formatChange, formatCount, formatElapsed, formatSuccess, relativeChange } from "@/lib/run-text";
import type { Locale } from "@/lib/time/time";
import { formatValue } from "@/lib/units";
import { useCodeText } from "@/lib/use-code-text";
import { useLocale } from "@/lib/use-locale";
import { Table } from "@/ui/list/table";
import { Section } from "@/ui/page/section";
import { PercentileChooser } from "@/ui/percentile-chooser";
import { Dim, Hint, TextButton } from "@/ui/text/text";
import { usePercentiles } from "../model/use-percentiles";
import classes from "../page/run-page.module.css";
import { OutcomeBar } from "./outcome-bar";

/** Percentiles that are added are read again so often while the run is under way. */
const EXTRA_MS = 5_000;

/** Which way is better, for the words beside a change. */
type Better = "more" | "less" | null;

interface Row {
  readonly id:
    | "requests"
    | "rate"
    | "okRate"
    | "throughput"
    | "wait"
    | "success"
    | "failures"
    | "min"
    | "mean"
    | "p50"
    | "p90"
    | "p95"
    | "p99"
    | "max"
    | "bytesIn"
    | "bytesOut";
  readonly better: Better;
  readonly value: (figures: Figures) => number | null;
  readonly text: (value: number | null, locale: Locale) => string;
}

const seconds = (value: number | null, locale: Locale) => formatValue(value, "seconds", locale);
const rate = (value: number | null, locale: Locale) => formatValue(value, "per_second", locale);
const bytes = (value: number | null, locale: Locale) => formatValue(value, "bytes_per_second", locale);
const perSecond = (total: number | null, figures: Figures) =>
  total === null || figures.duration_seconds <= 0 ? null : total / figures.duration_seconds;
const latency = (id: "min" | "mean" | "p50" | "p90" | "p95" | "p99" | "max"): Row => ({
  id,
  better: "less",
  value: (figures) => figures.latency_seconds[id],
  text: seconds,
});

const ROWS: readonly Row[] = [
  { id: "requests", better: null, value: (figures) => figures.requests, text: formatCount },
  {
    id: "rate",
    better: "more",
    value: (figures) => figures.rate,
    text: rate,
  },
  { id: "okRate", better: "more", value: (figures) => perSecond(figures.outcomes.ok ?? 0, figures), text: rate },
  { id: "throughput", better: "more", value: (figures) => figures.throughput ?? null, text: rate },
  { id: "wait", better: "less", value: (figures) => figures.wait_seconds ?? null, text: seconds },
  { id: "success", better: "more", value: (figures) => figures.success_ratio, text: formatSuccess },
  { id: "failures", better: "less", value: (figures) => failures(figures.outcomes), text: formatCount },
  ...(["min", "mean", "p50", "p90", "p95", "p99", "max"] as const).map(latency),
  { id: "bytesIn", better: null, value: (figures) => perSecond(figures.bytes_in, figures), text: bytes },
  { id: "bytesOut", better: null, value: (figures) => perSecond(figures.bytes_out, figures), text: bytes },
];

/** What is read first; the others are one click away. */
const FIRST: ReadonlySet<Row["id"]> = new Set(["requests", "rate", "success", "min", "p50", "p95", "p99", "max"]);

/** The figures of the steady window beside those of the whole run, and beside the baseline's. */
export function Summary({ run }: { run: Run }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const codeText = useCodeText();
  const baselineId = run.baseline !== null && run.baseline !== run.id ? run.baseline : null;
  const baseline = useQuery({ ...runQuery(baselineId ?? ""), enabled: baselineId !== null });
  const window = run.steady_window;
  const steady = window === null || window.source === "whole" ? null : run.steady;
  const whole = wholeFigures(run);
  const base = baseline.data === undefined ? null : (baseline.data.steady ?? wholeFigures(baseline.data));
  const measured = steady ?? whole;
  const [added, chooseAdded] = usePercentiles();
  const [all, setAll] = useState(false);
  const known = ROWS.filter((row) => row.value(whole) !== null);
  const rows = all ? known : known.filter(({ id }) => FIRST.has(id));
  const extra = useExtra(run, baselineId, added);
  return (
    <Section
      id="summary"
      title={t("runs.page.nav_summary")}
      aside={
        <span className={classes.endpointAside}>
          <span title={window === null ? undefined : codeText(`runs.page.window_${window.reason}`, window.reason)}>
            {steady === null
              ? t("runs.page.coversWhole")
              : t("runs.page.coversSteady", {
                  from: formatElapsed(window?.from_seconds ?? 0),
                  to: formatElapsed(window?.to_seconds ?? 0),
                })}
          </span>
          <PercentileChooser names={added} onChange={chooseAdded} />
        </span>
      }
    >
      <Table label={t("runs.page.summaryTable")} bare className={classes.table}>
        <thead>
          <tr>
            <th scope="col">
              <span className="lw-visually-hidden">{t("runs.page.figure")}</span>
            </th>
            {steady !== null && (
              <th scope="col" data-number>
                {t("runs.page.steady")}
              </th>
            )}
            <th scope="col" data-number>
              {t("runs.page.whole")}
            </th>
            {base !== null && (
              <>
                <th scope="col" data-number>
                  {t("runs.page.baseline")}
                </th>
                <th scope="col" data-number>
                  {t("runs.page.change")}
                </th>
              </>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id} data-lead={row.id === "rate" || row.id === "success" || row.id === "p95"}>
              <th scope="row">{t(`runs.page.figure_${row.id}`)}</th>
              {steady !== null && <td data-number>{row.text(row.value(steady), locale)}</td>}
              <td data-number data-dim={steady !== null}>
                {row.text(row.value(whole), locale)}
                {row.id === "rate" && run.target_rate != null && steady === null && (
                  <Dim> {t("runs.ofTarget", { target: formatValue(run.target_rate, "per_second", locale) })}</Dim>
                )}
              </td>
              {base !== null && (
                <>
                  <td data-number data-dim="true">
                    {row.text(row.value(base), locale)}
                  </td>
                  <td data-number>
                    <Change value={row.value(measured)} base={row.value(base)} better={row.better} />
                  </td>
                </>
              )}
            </tr>
          ))}
          {extra.rows.map(({ name, steady: inSteady, whole: inWhole, base: inBase }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {steady !== null && (
                <td data-number>
                  <Within value={inSteady} />
                </td>
              )}
              <td data-number data-dim={steady !== null}>
                <Within value={inWhole} />
              </td>
              {base !== null && (
                <>
                  <td data-number data-dim="true">
                    <Within value={inBase} />
                  </td>
                  <td data-number>
                    <Change
                      value={(inSteady ?? inWhole)?.seconds ?? null}
                      base={inBase?.seconds ?? null}
                      better="less"
                    />
                  </td>
                </>
              )}
            </tr>
          ))}
        </tbody>
      </Table>
      <TextButton aria-expanded={all} onClick={() => setAll(!all)}>
        {all ? t("runs.page.fewerFigures") : t("runs.page.allFigures", { count: known.length })}
      </TextButton>
      {extra.detail !== "" && <Hint>{t(`percentiles.${extra.detail}`)}</Hint>}
      <OutcomeBar outcomes={whole.outcomes} statusCodes={whole.status_codes} />
    </Section>
  );
}

/** The percentiles that the page adds, of the run and of its baseline. */
function useExtra(run: Run, baselineId: string | null, names: readonly string[]) {
  const own = useQuery({
    ...runPercentilesQuery(run.id, names),
    refetchInterval: run.state === "running" ? EXTRA_MS : false,
  }).data;
  const base = useQuery(runPercentilesQuery(baselineId ?? "", names)).data;
  const detail = names.length === 0 || own === undefined ? "" : own.detail;
  return {
    detail: detail === "no-requests" ? ("noRequests" as const) : detail === "" ? ("" as const) : ("notKept" as const),
    rows: names.map((name) => {
      const found = own?.percentiles.find((one) => one.name === name);
      const beside = base?.percentiles.find((one) => one.name === name);
      return {
        name,
        steady: found?.steady ?? null,
        whole: found?.whole ?? null,
        base: beside?.steady ?? beside?.whole ?? null,
      };
    }),
  };
}

/** A percentile; where it is an estimate, with the two values that it lies between. */
function Within({ value }: { value: PercentileValue | null }) {
  const locale = useLocale();
  if (value === null) return "–";
  if (value.low === value.high) return seconds(value.seconds, locale);
  return (
    <>
      ≈ {seconds(value.seconds, locale)}
      <Dim>
        {" "}
        ({seconds(value.low, locale)} – {seconds(value.high, locale)})
      </Dim>
    </>
  );
}

/** The run's own figures in the form that windows have. */
function wholeFigures(run: Run): Figures {
  return {
    requests: run.requests ?? 0,
    duration_seconds: run.rate !== null && run.rate > 0 ? (run.requests ?? 0) / run.rate : 0,
    rate: run.rate,
    success_ratio: run.success_ratio,
    latency_seconds: run.latency_seconds,
    outcomes: run.outcomes,
    status_codes: run.status_codes,
    bytes_in: run.bytes_in,
    bytes_out: run.bytes_out,
    wait_seconds: run.wait_seconds ?? null,
    throughput: run.throughput ?? null,
  };
}

/** Changes below this are within what repeats of one run show. */
const SAME = 0.02;

function Change({ value, base, better }: { value: number | null; base: number | null; better: Better }) {
  const { t } = useTranslation();
  const change = relativeChange(value, base);
  if (change === null) return "–";
  const judged = better !== null && Math.abs(change) >= SAME;
  const good = judged && change > 0 === (better === "more");
  return (
    <span className={classes.change} data-good={judged ? good : "same"}>
      {formatChange(change)}
      {judged && <span className={classes.word}> {good ? t("runs.page.better") : t("runs.page.worse")}</span>}
    </span>
  );
}
