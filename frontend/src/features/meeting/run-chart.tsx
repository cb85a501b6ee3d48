import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { runSecondsQuery } from "@/api/runs/queries";
import type { Run } from "@/api/runs/types";
import { MiniChart } from "@/charts/bars/mini-chart";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { EvidenceChart } from "@/panels/findings/evidence-list";
import { firstEvidence } from "@/panels/findings/model";
import { useFindingTimes, useWords } from "@/panels/findings/words";
import { useNotes } from "@/panels/notes/use-notes";
import { aroundRun } from "@/panels/run/around";
import type { ChartContext } from "@/panels/run/chart-context";
import { FirstChart } from "@/panels/run/first-chart";
import { LoadCharts } from "@/panels/run/load-charts";
import classes from "./meeting.module.css";

const HEIGHT = 260;
const POINTS = 600;
const WITHOUT_FINDING = ["rate", "latency"] as const;

/** The chart of what ran out first; where nothing did, requests and latency. */
export function RunChart({ run }: { run: Run }) {
  const shown = firstEvidence(run.diagnosis, run.findings);
  const seconds = useQuery({ ...runSecondsQuery(run.id, POINTS), enabled: shown === null && run.requests !== null });
  const endMs = run.ended_ms ?? run.updated_ms;
  const running = run.state === "running";
  const range = useMemo(() => aroundRun(run.started_ms, endMs, running), [run.started_ms, endMs, running]);
  const { marks } = useNotes(range);
  const context = useMemo((): ChartContext => ({ range, bands: [], notes: marks }), [range, marks]);
  if (shown !== null) return <FirstChart shown={shown} context={context} height={HEIGHT} />;
  return <LoadCharts run={run} seconds={seconds} context={context} only={WITHOUT_FINDING} />;
}

/** The same on paper: it is there before the browser lays out the sheets, which a chart that waits for its turn is not. */
export function PrintedChart({ run }: { run: Run }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const words = useWords();
  const shown = firstEvidence(run.diagnosis, run.findings);
  const times = useFindingTimes(run.diagnosis?.from_ms ?? run.started_ms);
  const rates = run.sparkline.filter((rate) => rate !== null);
  if (shown === null && rates.length === 0) return null;
  return (
    <figure className={`${classes.card} ${classes.printed}`}>
      <figcaption>{shown === null ? t("runs.sparkline") : words(shown.finding.title)}</figcaption>
      {shown === null ? (
        <MiniChart
          values={run.sparkline}
          top={formatValue(Math.max(...rates), "per_second", locale)}
          from={times.brief(run.started_ms)}
          to={times.brief(run.ended_ms ?? run.updated_ms)}
          label={t("runs.sparkline")}
        />
      ) : (
        <EvidenceChart one={shown.evidence} chart={shown.chart} times={times} />
      )}
    </figure>
  );
}
