import { memo, useEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { TimeSeriesChart } from "@/charts/plot/time-series-chart";
import type { FleetMode } from "@/lib/series/fleet";
import type { Answer } from "@/lib/series/series";
import { useWorst } from "@/panels/findings/worst";
import { isLate } from "@/panels/fleet-series";
import { promptSeries } from "@/panels/fleet-together";
import type { PanelInfo } from "@/panels/panel-catalogue";
import { chartSeries, keepLargest, panelFault, type Trimmed } from "@/panels/panel-series";
import type { ChartContext } from "@/panels/run/chart-context";
import { LayerTable } from "@/panels/signal/layer-table";
import { PanelMenu, type Shown } from "@/panels/signal/panel-menu";
import { useFleetWords } from "@/panels/signal/use-fleet-words";
import { Dialog } from "@/ui/form/dialog";
import { Frame } from "@/ui/page/section";

interface Props {
  readonly panel: PanelInfo;
  readonly answer: Answer | undefined;
  /** How several instances are drawn; the usual way where nobody has chosen. */
  readonly fleet: FleetMode | undefined;
  readonly context: ChartContext;
  readonly pending: boolean;
  readonly error: string | null;
}

const NO_GRID = { startMs: 0, stepMs: 1000, count: 0 };

/** One chart of signals over the run, with the live page's menu. */
export const SystemPanel = memo(function SystemPanel(props: Props) {
  const { panel, answer, fleet, context } = props;
  const { t } = useTranslation();
  const [full, setFull] = useState(false);
  const box = useRef<HTMLElement>(null);
  const { series } = useDrawn(panel, answer, fleet);
  const grid = answer ?? NO_GRID;
  const shown = useRef<Shown>({ grid, series, range: context.range });
  useEffect(() => {
    shown.current = { grid, series, range: context.range };
  });
  const { stepMs } = grid;
  const empty = series.length === 0;
  const menu = useMemo(
    () => (
      <PanelMenu panel={panel} box={box} shown={shown} stepMs={stepMs} empty={empty} onFull={() => setFull(true)} />
    ),
    [panel, stepMs, empty],
  );
  return (
    <Frame ref={box} aria-label={panel.title}>
      <SignalChart {...props} height={170} actions={menu} />
      {full && (
        <Dialog
          onClose={() => setFull(false)}
          title={panel.title}
          size="100%"
          closeButtonProps={{ "aria-label": t("panel.closeFull") }}
        >
          <SignalChart {...props} height={520} legend="table" />
        </Dialog>
      )}
    </Frame>
  );
});

interface ChartProps extends Props {
  readonly height: number;
  readonly actions?: React.ReactNode;
  readonly legend?: "list" | "table";
}

function useDrawn(panel: PanelInfo, answer: Answer | undefined, fleet: FleetMode | undefined): Trimmed {
  const words = useFleetWords();
  const worst = useWorst();
  return useMemo(() => {
    if (answer === undefined) return { series: [], dropped: 0 };
    // Late values over a run are few, and each is looked at.
    return isLate(panel) ? keepLargest(chartSeries(panel, answer)) : promptSeries(panel, answer, fleet, words, worst);
  }, [panel, answer, fleet, words, worst]);
}

function SignalChart({ panel, answer, fleet, context, pending, error, ...rest }: ChartProps) {
  const { t } = useTranslation();
  const { range, ...actions } = context;
  const { series, dropped } = useDrawn(panel, answer, fleet);
  const fault = answer === undefined ? null : panelFault(answer);
  const partial =
    fault !== null ? t("panel.partial", { ...fault }) : dropped > 0 ? t("panel.dropped", { count: dropped }) : null;
  if (panel.table === true) {
    const fault = error === "offline" ? t("error.offline") : error;
    return <LayerTable panel={panel} answer={answer} late={null} error={fault} actions={rest.actions ?? null} />;
  }
  return (
    <TimeSeriesChart
      title={panel.title}
      unit={panel.unit}
      help={panel.help}
      range={range}
      grid={answer ?? NO_GRID}
      reduced={answer?.reduced ?? false}
      series={series}
      loading={pending}
      error={error === "offline" ? t("error.offline") : error}
      partial={partial}
      {...actions}
      {...rest}
    />
  );
}
