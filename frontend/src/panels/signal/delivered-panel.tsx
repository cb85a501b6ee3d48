import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { ChartLateness } from "@/charts/chart-types";
import { TimeSeriesChart, type TimeSeriesChartProps } from "@/charts/plot/time-series-chart";
import type { FleetMode } from "@/lib/series/fleet";
import type { Answer } from "@/lib/series/series";
import { formatInstant } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { commonExtent, newestOf, type Pane, panesOf } from "@/panels/fleet-series";
import type { PanelInfo } from "@/panels/panel-catalogue";
import classes from "./delivered-panel.module.css";
import { stackPanes } from "./stack-series";
import { useFleetWords } from "./use-fleet-words";

/** Beyond this nothing is "on its way": the chart says that values have stopped. */
export const STOPPED_MS = 1_200_000;
const NOTHING: readonly Pane[] = [];

interface Props {
  readonly panel: PanelInfo;
  readonly answer: Answer | undefined;
  readonly mode: FleetMode;
  /** The present, or the moment of a pause; null for a range in the past. */
  readonly nowMs: number | null;
  readonly staleAfterMs: number | null;
  /** What every chart of the panel gets. */
  readonly chart: Omit<TimeSeriesChartProps, "title" | "series" | "nowMs" | "staleAfterMs">;
}

/** What is drawn, for the menu's exports too. */
export function usePanes(panel: PanelInfo, answer: Answer | undefined, mode: FleetMode): readonly Pane[] {
  const words = useFleetWords();
  const { t } = useTranslation();
  return useMemo(() => {
    if (answer === undefined) return NOTHING;
    if (panel.stacked === true) return stackPanes(panel, answer, mode, words, t("fleet.rest"));
    return panesOf(panel, answer, mode, words);
  }, [panel, answer, mode, words, t]);
}

/** Values that come late, and parts of a whole: side by side where the panel says so, each chart on the same axis. */
export function DeliveredPanel({ panel, answer, mode, nowMs, staleAfterMs, chart }: Props) {
  const panes = usePanes(panel, answer, mode);
  const common = useMemo(() => (panes.length > 1 ? commonExtent(panes) : null), [panes]);
  const late = latenessOf(panel, answer, nowMs);
  const hint = useEmptyHint(late);
  const shown = panes.length === 0 ? [{ value: null, series: [], count: 0, dropped: 0 }] : panes;
  const title = usePaneTitle(panel);
  const { t } = useTranslation();
  return (
    <div className={classes.panes} data-panes={Math.min(shown.length, 4)}>
      {shown.map((pane, place) => {
        const { actions, ...rest } = chart;
        const isLast = place === shown.length - 1;
        return (
          <TimeSeriesChart
            key={pane.value ?? ""}
            {...rest}
            {...(isLast && actions !== undefined && { actions })}
            title={title(pane, shown.length)}
            series={pane.series}
            partial={rest.partial ?? (pane.dropped > 0 ? t("panel.dropped", { count: pane.dropped }) : null)}
            common={common}
            late={late}
            nowMs={nowMs}
            staleAfterMs={staleAfterMs}
            emptyHint={hint ?? rest.emptyHint}
          />
        );
      })}
    </div>
  );
}

function usePaneTitle(panel: PanelInfo): (pane: Pane, panes: number) => string {
  const { t } = useTranslation();
  return ({ value, count, name }, panes) => {
    if (name !== undefined) return t("fleet.one", { title: panel.title, name });
    if (panes === 1) return panel.title;
    if (value === "writer" || value === "primary") return t("fleet.writer", { title: panel.title });
    if (value === "reader" || value === "replica") return t("fleet.readers", { title: panel.title, count });
    return t("fleet.others", { title: panel.title });
  };
}

/** How far behind the source of a panel's values is; null where nothing came, or nothing comes any more. */
export function latenessOf(panel: PanelInfo, answer: Answer | undefined, nowMs: number | null): ChartLateness | null {
  const deliveries = panel.signals.flatMap(({ delivery }) => (delivery == null ? [] : [delivery]));
  const source = deliveries[0]?.source;
  const newestMs = answer === undefined ? null : newestOf(panel, answer);
  if (source === undefined || newestMs === null || nowMs === null || nowMs - newestMs > STOPPED_MS) return null;
  return { source, newestMs, nowMs, events: deliveries.every(({ events }) => events) };
}

/** Why a chart of a short range is empty though values come. */
function useEmptyHint(late: ChartLateness | null): string | null {
  const { t } = useTranslation();
  const locale = useLocale();
  const { zone } = useView();
  if (late === null) return null;
  return t("fleet.notYet", { source: late.source, time: formatInstant(late.newestMs, zone, locale) });
}
