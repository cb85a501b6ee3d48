import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { ChartLateness } from "@/charts/chart-types";
import { TimeSeriesChart, type TimeSeriesChartProps } from "@/charts/plot/time-series-chart";
import type { FleetMode } from "@/lib/series/fleet";
import type { Answer } from "@/lib/series/series";
import { formatInstant } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { commonExtent, instancePanes, newestOf, type Pane, panesOf } from "@/panels/fleet-series";
import type { PanelInfo } from "@/panels/panel-catalogue";
import { Hint } from "@/ui/text/text";
import classes from "./delivered-panel.module.css";
import { stackPanes } from "./stack-series";
import { useFleetWords } from "./use-fleet-words";

/** Beyond this nothing is "on its way": the chart says that values have stopped. */
export const STOPPED_MS = 1_200_000;
/** Of the plot where each instance has one: ten are in sight together. */
const SMALL_HEIGHT = 110;
const NOTHING: readonly Pane[] = [];

interface Props {
  readonly panel: PanelInfo;
  readonly answer: Answer | undefined;
  readonly mode: FleetMode;
  /** Each instance has a chart of its own. */
  readonly perInstance: boolean;
  /** What every chart of the panel gets. */
  readonly chart: Omit<TimeSeriesChartProps, "title" | "series">;
}

/** What is drawn, for the menu's exports too. */
export function usePanes({ panel, answer, mode, perInstance }: Omit<Props, "chart">): readonly Pane[] {
  const words = useFleetWords();
  const { t } = useTranslation();
  return useMemo(() => {
    if (answer === undefined) return NOTHING;
    if (panel.stacked === true) return stackPanes(panel, answer, perInstance ? "each" : mode, words, t("fleet.rest"));
    return perInstance ? instancePanes(panel, answer) : panesOf(panel, answer, mode, words);
  }, [panel, answer, mode, perInstance, words, t]);
}

/** Late values, parts of a whole, and each instance: charts side by side on the same axis where there are several. */
export function DeliveredPanel(props: Props) {
  const { panel, perInstance, chart } = props;
  const panes = usePanes(props);
  const common = useMemo(() => (panes.length > 1 ? commonExtent(panes) : null), [panes]);
  const hint = useEmptyHint(chart.late ?? null);
  const shown = panes.length === 0 ? [{ value: null, series: [], count: 0, dropped: 0 }] : panes;
  const many = perInstance && shown.length > 1;
  const dropped = shown.reduce((sum, pane) => sum + pane.dropped, 0);
  const title = usePaneTitle(panel);
  const { t } = useTranslation();
  return (
    <>
      {many && (
        <div className={classes.head}>
          <Hint>{dropped > 0 && t("panel.dropped", { count: dropped })}</Hint>
          {chart.actions}
        </div>
      )}
      <div className={classes.panes} data-panes={many ? "many" : Math.min(shown.length, 4)}>
        {shown.map((pane, place) => {
          const { actions, ...rest } = chart;
          const isLast = place === shown.length - 1;
          return (
            <TimeSeriesChart
              key={pane.value ?? ""}
              {...rest}
              {...(many && { height: SMALL_HEIGHT })}
              {...(perInstance && pane.series.length === 1 && { legend: "none" })}
              {...(isLast && !many && actions !== undefined && { actions })}
              title={(perInstance ? pane.name : undefined) ?? title(pane, shown.length)}
              series={pane.series}
              partial={rest.partial ?? (pane.dropped > 0 && !many ? t("panel.dropped", { count: pane.dropped }) : null)}
              common={common}
              emptyHint={hint ?? rest.emptyHint}
            />
          );
        })}
      </div>
    </>
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
