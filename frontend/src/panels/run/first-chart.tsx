import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { ChartBand } from "@/charts/chart-types";
import { TimeSeriesChart } from "@/charts/plot/time-series-chart";
import { formatDuration } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import type { ShownEvidence } from "@/panels/findings/model";
import { useWords } from "@/panels/findings/words";
import { Frame } from "@/ui/page/section";
import type { ChartContext } from "./chart-context";
import { cutGrid } from "./cut-grid";

interface Props {
  readonly shown: ShownEvidence;
  readonly context: ChartContext;
  readonly height: number;
}

/** What ran out first, drawn: the use of the limit over the run, the limit, and when harm was done. */
export function FirstChart({ shown: { finding, evidence, chart }, context, height }: Props) {
  const { t } = useTranslation();
  const locale = useLocale();
  const words = useWords();
  const { range } = context;
  const title = words(finding.title);
  const thing = Object.values(finding.labels).join(" ") || title;
  const { grid, cut } = useMemo(
    () => cutGrid({ startMs: chart.start_ms, stepMs: chart.step_ms, count: chart.values.length }, range),
    [chart, range],
  );
  const series = useMemo(
    () => [{ id: finding.key, name: thing, values: cut(chart.values) }],
    [finding, thing, chart, cut],
  );
  const { limit } = evidence;
  const limits = useMemo(
    () => (limit === null ? [] : [{ id: "limit", label: t("findings.link_limit"), value: limit }]),
    [limit, t],
  );
  const harm = useMemo(
    (): readonly ChartBand[] => [
      { id: "harm", label: t("figures.harm"), startMs: finding.from_ms, endMs: finding.to_ms },
    ],
    [finding, t],
  );
  return (
    <Frame aria-label={title}>
      <TimeSeriesChart
        {...context}
        title={title}
        unit={evidence.unit}
        help={t("figures.partHelp", { text: words(evidence.text), step: formatDuration(chart.step_ms, locale) })}
        grid={grid}
        series={series}
        limits={limits}
        bands={harm}
        height={height}
      />
    </Frame>
  );
}
