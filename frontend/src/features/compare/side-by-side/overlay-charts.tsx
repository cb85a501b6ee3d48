import { Button } from "@mantine/core";
import { useCallback, useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { Comparison } from "@/api/compare/types";
import type { ChartNote } from "@/charts/chart-types";
import { TimeSeriesChart } from "@/charts/plot/time-series-chart";
import type { Range } from "@/lib/time/time";
import { Frame } from "@/ui/page/section";
import { Dim } from "@/ui/text/text";
import classes from "../compare.module.css";
import { LANE_UNITS, LANES, laneSeries, overlayGrid, overlayRange, runNames } from "../model/overlay-series";
import type { CompareState } from "../model/state";

interface Props {
  readonly data: Comparison;
  readonly slots: ReadonlyMap<string, number>;
  readonly state: CompareState;
  readonly onChange: (change: Partial<CompareState>) => void;
}

const NO_NOTES: readonly ChartNote[] = [];

/** The runs laid over each other by elapsed time; one crosshair and one zoom for all charts. */
export function OverlayCharts({ data, slots, state, onChange }: Props) {
  const { t } = useTranslation();
  const { hidden, zoom } = state;
  const grid = useMemo(() => overlayGrid(data), [data]);
  const range = useMemo(() => overlayRange(grid, zoom), [grid, zoom]);
  const names = useMemo(() => runNames(data.groups), [data.groups]);
  const lanes = useMemo(
    () => LANES.map((lane) => ({ lane, series: laneSeries(lane, data.series, slots, names, hidden) })),
    [data.series, slots, names, hidden],
  );
  const steady = t("compare.steadyBegins");
  const notes = useMemo(
    () => (data.align === "steady" ? [{ id: "steady", text: steady, startMs: 0, endMs: null }] : NO_NOTES),
    [data.align, steady],
  );
  const onZoom = useCallback(
    (to: Range) => onChange({ zoom: { from: Math.round(to.startMs / 100) / 10, to: Math.round(to.endMs / 100) / 10 } }),
    [onChange],
  );
  const onZoomOut = useCallback(() => onChange({ zoom: null }), [onChange]);
  return (
    <section aria-labelledby="compare-charts">
      <div className={classes.sectionHead}>
        <h2 id="compare-charts">{t("compare.charts")}</h2>
        <Dim>{t("compare.chartsHint", { count: data.step_seconds })}</Dim>
        {zoom !== null && (
          <Button size="compact-xs" variant="default" onClick={onZoomOut}>
            {t("compare.zoomOut")}
          </Button>
        )}
      </div>
      <div className={classes.charts}>
        {lanes.map(({ lane, series }) => (
          <Frame key={lane} aria-label={t(`compare.lane_${lane}`)}>
            <TimeSeriesChart
              title={t(`compare.lane_${lane}`)}
              unit={LANE_UNITS[lane]}
              axis="elapsed"
              range={range}
              grid={grid}
              series={series}
              notes={notes}
              legend="none"
              height={176}
              onZoom={onZoom}
              onZoomOut={onZoomOut}
            />
          </Frame>
        ))}
      </div>
    </section>
  );
}
