import classes from "./loading-chart.module.css";

/** The place of a chart with its title and legend, with faint axes. */
export function LoadingChart({ height }: { height: number }) {
  return <div className={classes.chart} style={{ height }} data-loading="chart" />;
}
