import { useCallback, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { type Instant, MOST_LINES, MOST_ROWS, type Ranged } from "@/api/explore/queries";
import { serverNow } from "@/api/server-clock";
import { TimeSeriesChart } from "@/charts/plot/time-series-chart";
import { absoluteRange, widenRange } from "@/lib/time/range";
import type { Range } from "@/lib/time/time";
import type { Unit } from "@/lib/units";
import { useView } from "@/lib/view/context";
import { useNotes } from "@/panels/notes/use-notes";
import { keepLargest } from "@/panels/panel-series";
import { useRunBands } from "@/panels/run/use-run-bands";
import { Table } from "@/ui/list/table";
import { Frame } from "@/ui/page/section";
import { Hint } from "@/ui/text/text";
import { linesOf, seriesText } from "./answers";
import classes from "./explore.module.css";

interface ChartProps {
  readonly expression: string;
  readonly unit: Unit;
  readonly answer: Ranged;
}

/** The expression over the page's range, with its runs and annotations. */
export function ResultChart({ expression, unit, answer }: ChartProps) {
  const { t } = useTranslation();
  const { setRange, undoRange, canUndo, range } = useView();
  const { startMs, stepMs, count } = answer;
  const shown = useMemo(() => ({ startMs, endMs: startMs + (count - 1) * stepMs }), [startMs, stepMs, count]);
  const bands = useRunBands(shown);
  const { marks } = useNotes(shown);
  const { series, dropped } = useMemo(() => keepLargest(linesOf(answer, expression)), [answer, expression]);
  const onZoom = useCallback((next: Range) => setRange(absoluteRange(next.startMs, next.endMs)), [setRange]);
  const onZoomOut = useCallback(() => {
    if (canUndo) undoRange();
    else setRange(widenRange(range, 2, serverNow()));
  }, [canUndo, undoRange, setRange, range]);
  const isCut = answer.result.length > MOST_LINES;
  return (
    <Frame aria-label={t("explore.chart")}>
      <TimeSeriesChart
        title={expression}
        unit={unit}
        range={shown}
        grid={answer}
        series={series}
        bands={bands}
        notes={marks}
        partial={
          isCut ? t("explore.cut", { count: MOST_LINES }) : dropped > 0 ? t("panel.dropped", { count: dropped }) : null
        }
        emptyHint={t("explore.empty")}
        height={320}
        onZoom={onZoom}
        onZoomOut={onZoomOut}
      />
    </Frame>
  );
}

/** The expression at the end of the range. */
export function ResultTable({ answer }: { answer: Instant }) {
  const { t } = useTranslation();
  const rows = answer.result.slice(0, MOST_ROWS);
  if (rows.length === 0) return <Hint>{t("explore.empty")}</Hint>;
  return (
    <>
      <Table label={t("explore.table")} className={classes.table ?? ""}>
        <thead>
          <tr>
            <th scope="col">{t("explore.series")}</th>
            <th scope="col" data-number="true">
              {t("explore.value")}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ metric, value, values }) => (
            <tr key={seriesText(metric)}>
              <td>
                <code>{seriesText(metric) || "{}"}</code>
              </td>
              <td data-number="true">
                {value !== undefined ? value[1] : values?.map(([at, text]) => <div key={at}>{`${text} @ ${at}`}</div>)}
              </td>
            </tr>
          ))}
        </tbody>
      </Table>
      {answer.result.length > MOST_ROWS && <Hint>{t("explore.cut", { count: MOST_ROWS })}</Hint>}
    </>
  );
}
