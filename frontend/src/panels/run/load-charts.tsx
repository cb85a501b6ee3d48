import type { UseQueryResult } from "@tanstack/react-query";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { ApiError } from "@/api/client";
import type { Run, RunSeconds } from "@/api/runs/types";
import type { ChartLimit, ChartSeries } from "@/charts/chart-types";
import { TimeSeriesChart } from "@/charts/plot/time-series-chart";
import type { Unit } from "@/lib/units";
import { Frame } from "@/ui/page/section";
import type { ChartContext } from "./chart-context";
import classes from "./load-charts.module.css";
import { type LoadNames, loadSeries } from "./load-series";

interface Props {
  readonly run: Omit<Run, "errors">;
  readonly seconds: UseQueryResult<RunSeconds>;
  readonly context: ChartContext;
  /** Of all charts these alone. */
  readonly only?: readonly LoadChart["id"][];
  /** Of rate and latency, in pixels. */
  readonly height?: number;
}

interface LoadChart {
  readonly id: "rate" | "latency" | "failures" | "bytes" | "users";
  readonly unit: Unit;
  readonly series: readonly ChartSeries[];
  readonly limits: readonly ChartLimit[];
  readonly help: string;
}

const HEIGHT = 230;
const SMALL_HEIGHT = 180;
const NO_GRID = { startMs: 0, stepMs: 1000, count: 0 };

/** What the generator saw, second by second. */
export function LoadCharts({ run, seconds, context, only, height = HEIGHT }: Props) {
  const { t } = useTranslation();
  const { range, ...actions } = context;
  const names = useMemo(
    (): LoadNames => ({
      outcome: (outcome) => t(`runs.outcome_${outcome}`),
      max: t("runs.page.figure_max"),
      bytesIn: t("runs.page.bytesReceived"),
      bytesOut: t("runs.page.bytesSent"),
      users: t("runs.page.users"),
    }),
    [t],
  );
  const data = seconds.data;
  const drawn = useMemo(() => (data === undefined ? null : loadSeries(data, range, names)), [data, range, names]);
  const none = seconds.error instanceof ApiError && seconds.error.status === 404;
  const target = run.target_rate ?? null;
  const charts: LoadChart[] = [
    {
      id: "rate",
      unit: "per_second",
      series: drawn?.rate ?? [],
      limits: target === null ? [] : [{ id: "target", label: t("runs.page.target"), value: target }],
      help: t("runs.page.chartHelp_rate"),
    },
    {
      id: "latency",
      unit: "seconds",
      series: drawn?.latency ?? [],
      limits: latencyLimits(run),
      help: data?.exact === false ? t("runs.page.chartHelp_toolLatency") : t("runs.page.chartHelp_latency"),
    },
    ...(["failures", "bytes", "users"] as const).flatMap((id): LoadChart[] => {
      const series = drawn?.[id] ?? [];
      const unit = id === "failures" ? "per_second" : id === "bytes" ? "bytes_per_second" : "count";
      return series.length === 0 ? [] : [{ id, unit, series, limits: [], help: t(`runs.page.chartHelp_${id}`) }];
    }),
  ];
  return (
    <div className={classes.grid}>
      {charts
        .filter(({ id }) => only?.includes(id) ?? true)
        .map((chart) => (
          <Frame key={chart.id} aria-label={t(`runs.page.chart_${chart.id}`)}>
            <TimeSeriesChart
              title={t(`runs.page.chart_${chart.id}`)}
              unit={chart.unit}
              help={chart.help}
              range={range}
              grid={drawn?.grid ?? NO_GRID}
              reduced={data?.reduced ?? false}
              series={chart.series}
              limits={chart.limits}
              loading={seconds.isLoading}
              error={seconds.error === null || none ? null : problem(seconds.error, t("error.offline"))}
              partial={chart.id === "latency" && data?.exact === false ? t("runs.page.chartHelp_toolLatency") : null}
              emptyHint={run.state === "running" ? t("runs.page.noSecondsYet") : t("runs.page.noSeconds")}
              height={chart.id === "rate" || chart.id === "latency" ? height : Math.min(height, SMALL_HEIGHT)}
              {...actions}
            />
          </Frame>
        ))}
    </div>
  );
}

/** Latency thresholds as lines: the ones whose limit a percentile of the chart is held against. */
function latencyLimits(run: Props["run"]): readonly ChartLimit[] {
  return run.thresholds.flatMap((threshold) =>
    /^(p50|p90|p95|p99|max)$/.test(threshold.metric) && threshold.limit !== null && threshold.operator.startsWith("<")
      ? [{ id: threshold.expression, label: threshold.metric, value: threshold.limit }]
      : [],
  );
}

function problem(error: Error, offline: string): string {
  return error.message === "offline" ? offline : error.message;
}
