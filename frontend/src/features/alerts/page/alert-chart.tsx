import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router";
import { alertSeriesQuery } from "@/api/alerts/queries";
import type { Alert, AlertTransition } from "@/api/alerts/types";
import { serverNow } from "@/api/server-clock";
import type { ChartBand, ChartNote } from "@/charts/chart-types";
import { TimeSeriesChart } from "@/charts/plot/time-series-chart";
import { faultText } from "@/ui/fault/problem";
import { chartRange, chartUnit, gridOf, movesState } from "../model/series";
import { useTransitionText } from "../model/use-transition-text";

const REFRESH_MS = 5000;
const NOTHING = { times_ms: [], values: [] };

interface Props {
  readonly alert: Alert;
  readonly transitions: readonly AlertTransition[];
  /** Of the plot, in pixels. */
  readonly height: number;
}

/** What the rule compares, with its threshold and marks where the alert changed. A drag opens that span on the live page. */
export function AlertChart({ alert, transitions, height }: Props) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const words = useTransitionText();
  const over = alert.state === "resolved";
  const query = useQuery({
    ...alertSeriesQuery(alert.id),
    refetchInterval: over ? false : REFRESH_MS,
    retry: false,
  });
  const series = query.data;
  const { grid, values } = useMemo(() => gridOf(series ?? NOTHING), [series]);
  const notes = transitions.map(
    (one): ChartNote => ({ id: String(one.id), text: words(one), startMs: one.at_ms, endMs: null }),
  );
  const threshold = series?.threshold ?? alert.threshold;
  return (
    <TimeSeriesChart
      title={t("alerts.page.value")}
      unit={chartUnit(series?.unit ?? alert.unit)}
      range={chartRange(series, alert, serverNow())}
      grid={grid}
      series={series === undefined ? [] : [{ id: "value", name: alert.name, values }]}
      limits={threshold === null ? [] : [{ id: "threshold", label: t("alerts.page.threshold"), value: threshold }]}
      bands={firingBands(alert, transitions, t("alerts.state_firing"))}
      notes={notes}
      loading={query.isPending}
      error={query.error === null ? null : faultText(query.error, t)}
      emptyHint={t("alerts.page.noSeries")}
      legend="none"
      height={height}
      onZoom={({ startMs, endMs }) => {
        const at = (ms: number) => new Date(ms).toISOString();
        void navigate(`/?from=${at(startMs)}&to=${at(endMs)}`);
      }}
    />
  );
}

/** The time in which it fired, as a band behind the line. */
function firingBands(alert: Alert, transitions: readonly AlertTransition[], label: string): readonly ChartBand[] {
  const began = transitions.find((one) => movesState(one) && one.to_state === "firing")?.at_ms ?? alert.fired_ms;
  return began === null ? [] : [{ id: "firing", label, startMs: began, endMs: alert.resolved_ms }];
}
