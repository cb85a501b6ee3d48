import type { ReactNode } from "react";
import { useChartSettings } from "@/charts/chart-settings";
import { judgedSampleMs } from "@/charts/lines/reading";
import { formatDuration, wholeMinutes } from "@/lib/time/time";
import { unitLabel } from "@/lib/units";
import type { TimeSeriesChartProps } from "./time-series-chart";

type Props = TimeSeriesChartProps & {
  readonly hasData: boolean;
  /** What the names of all series share. */
  readonly shared: string;
  /** Legend of the only series. */
  readonly only: ReactNode;
};

/** Title line of a chart: what it is, what is to be known of its data, and its buttons. */
export function ChartHead(props: Props) {
  const { title, unit, help, partial, error, actions, grid, series, nowMs, staleAfterMs, hasData } = props;
  const late = props.late ?? null;
  const { locale, messages } = useChartSettings();
  const last = judgedSampleMs(grid, series);
  const age = last === null || nowMs === null || nowMs === undefined ? null : nowMs - last;
  const stale = age !== null && staleAfterMs !== null && staleAfterMs !== undefined && age > staleAfterMs;
  return (
    <figcaption className="lw-head">
      <span className="lw-title" title={help}>
        {title}
      </span>
      <span className="lw-unit">
        {unitLabel(unit, locale)}
        {props.meanMs != null && ` · ${messages.meanOf(formatDuration(props.meanMs, locale))}`}
        {props.shared !== "" && props.shared !== title && ` · ${props.shared}`}
      </span>
      {props.only}
      <span className="lw-badges">
        {stale && <span className="lw-badge lw-badge-stale">{messages.staleFor(formatDuration(age, locale))}</span>}
        {late !== null && !stale && (
          <span className="lw-badge lw-badge-late">
            {messages[late.events ? "noneSince" : "lateBy"](
              late.source,
              formatDuration(wholeMinutes(late.nowMs - late.newestMs), locale),
            )}
          </span>
        )}
        {partial != null && (
          <span className="lw-badge lw-badge-partial" title={partial}>
            {messages.partial}
          </span>
        )}
        {error != null && hasData && (
          <span className="lw-badge lw-badge-error" title={error} role="alert">
            ⚠ {error}
          </span>
        )}
      </span>
      {actions !== undefined && <span className="lw-actions">{actions}</span>}
    </figcaption>
  );
}
