import { memo, type ReactNode, useEffect, useMemo, useRef } from "react";
import { useTranslation } from "react-i18next";
import type { ChartBand, ChartLimit, ChartNote } from "@/charts/chart-types";
import { TimeSeriesChart, type TimeSeriesChartProps } from "@/charts/plot/time-series-chart";
import type { FleetMode } from "@/lib/series/fleet";
import type { Answer } from "@/lib/series/series";
import type { Range } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { useWorst } from "@/panels/findings/worst";
import { isLate } from "@/panels/fleet-series";
import { promptSeries } from "@/panels/fleet-together";
import type { PanelInfo } from "@/panels/panel-catalogue";
import { meanOf, panelFault, type Trimmed } from "@/panels/panel-series";
import { Frame } from "@/ui/page/section";
import { DeliveredPanel, latenessOf, STOPPED_MS } from "./delivered-panel";
import { LayerTable } from "./layer-table";
import { PanelMenu, type Shown } from "./panel-menu";
import classes from "./signal-panel.module.css";
import { useFleetWords } from "./use-fleet-words";

export interface SignalPanelProps {
  readonly panel: PanelInfo;
  readonly answer: Answer | undefined;
  readonly range: Range;
  readonly nowMs: number | null;
  readonly staleAfterMs: number | null;
  readonly pending: boolean;
  /** Why nothing could be read at all. */
  readonly error: string | null;
  readonly notes: readonly ChartNote[];
  readonly bands: readonly ChartBand[];
  /** Fixed values that the signals are held against. */
  readonly limits?: readonly ChartLimit[];
  readonly height: number;
  /** How several instances are drawn; the usual way where nobody has chosen. */
  readonly fleet?: FleetMode | undefined;
  /** Each instance has a chart of its own. */
  readonly perInstance?: boolean;
  /** The present or the moment of a pause, up to which late values are missed; null for a range in the past. */
  readonly missedUntilMs?: number | null;
  readonly onZoom: NonNullable<TimeSeriesChartProps["onZoom"]>;
  readonly onZoomOut: () => void;
  readonly onInstant: (timeMs: number) => void;
  readonly onNote: (id: string) => void;
  readonly onFull: (id: string) => void;
  readonly onPerInstance: (id: string) => void;
}

const NOTHING: Trimmed = { series: [], dropped: 0 };
const NO_GRID = { startMs: 0, stepMs: 1000, count: 0 };

/** One chart of signals with its menu. */
export const SignalPanel = memo(function SignalPanel(props: SignalPanelProps) {
  const { panel, answer, range, error, perInstance = false, onFull, onPerInstance } = props;
  const { t } = useTranslation();
  const locale = useLocale();
  const box = useRef<HTMLElement>(null);
  const words = useFleetWords();
  const worst = useWorst();
  const fleet = perInstance ? "each" : props.fleet;
  const { series, dropped } = useMemo(
    () => (answer === undefined ? NOTHING : promptSeries(panel, answer, fleet, words, worst)),
    [panel, answer, fleet, words, worst],
  );
  const fault = answer === undefined ? null : panelFault(answer);
  const whole = fault !== null && fault.count === fault.total;
  const partial =
    fault !== null && !whole
      ? t("panel.partial", { ...fault })
      : dropped > 0
        ? t("panel.dropped", { count: dropped })
        : null;
  const grid = answer ?? NO_GRID;
  const shown = useRef<Shown>({ grid, series, range });
  useEffect(() => {
    shown.current = { grid, series, range };
  });
  const { stepMs } = grid;
  const empty = series.length === 0;
  const menu = useMemo(
    () => <PanelMenu {...{ panel, box, shown, stepMs, empty, onFull, onPerInstance }} />,
    [panel, stepMs, empty, onFull, onPerInstance],
  );
  const late = isLate(panel);
  const missedUntilMs = props.missedUntilMs ?? null;
  // Of a chart with prompt signals too, when those have nothing: the others are behind, and not stale.
  const bounded = series.filter(({ kind }) => kind !== "limit");
  const behind = bounded.length > 0 && bounded.every(({ kind }) => kind === "period");
  const chart = {
    unit: panel.unit,
    help: panel.help,
    range,
    grid,
    reduced: answer?.reduced ?? false,
    meanMs: answer === undefined ? null : meanOf(answer),
    notes: props.notes,
    bands: props.bands,
    ...(props.limits !== undefined && { limits: props.limits }),
    loading: props.pending,
    error: whole ? fault.detail : error,
    partial,
    emptyHint: <EmptyHint key={locale} help={panel.help} />,
    height: props.height,
    actions: menu,
    onZoom: props.onZoom,
    onZoomOut: props.onZoomOut,
    onInstant: props.onInstant,
    onNote: props.onNote,
    ...(late || behind
      ? { nowMs: missedUntilMs, staleAfterMs: STOPPED_MS, late: latenessOf(panel, answer, missedUntilMs) }
      : { nowMs: props.nowMs, staleAfterMs: props.staleAfterMs }),
  };
  return (
    <Frame
      ref={box}
      id={`panel-${panel.id}`}
      tabIndex={-1}
      aria-label={panel.title}
      data-start-ms={range.startMs}
      data-end-ms={range.endMs}
      data-split={panel.split != null}
    >
      {panel.table === true ? (
        <LayerTable
          panel={panel}
          answer={answer}
          late={latenessOf(panel, answer, missedUntilMs)}
          error={whole ? fault.detail : error}
          actions={menu}
        />
      ) : late || perInstance || panel.stacked === true ? (
        <DeliveredPanel
          {...{ panel, answer, perInstance }}
          mode={fleet ?? "total"}
          chart={{ ...chart, partial: fault === null ? null : partial }}
        />
      ) : (
        <TimeSeriesChart {...chart} title={panel.title} series={series} />
      )}
    </Frame>
  );
});

function EmptyHint({ help }: { help: string }): ReactNode {
  return <span className={classes.hint}>{help}</span>;
}
