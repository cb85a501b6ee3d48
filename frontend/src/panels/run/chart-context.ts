import type { ChartBand, ChartNote } from "@/charts/chart-types";
import type { TimeSeriesChartProps } from "@/charts/plot/time-series-chart";
import type { Range } from "@/lib/time/time";

/** What all charts of a run share wherever they stand. */
export interface ChartContext extends Pick<TimeSeriesChartProps, "onZoom" | "onZoomOut" | "onInstant" | "onNote"> {
  readonly range: Range;
  readonly bands: readonly ChartBand[];
  readonly notes: readonly ChartNote[];
}
