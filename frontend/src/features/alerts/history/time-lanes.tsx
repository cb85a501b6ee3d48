import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import type { RunLine } from "@/api/runs/types";
import { runTitle } from "@/lib/run-text";
import { timeTicks } from "@/lib/ticks";
import { formatDuration, formatInstant, formatTick, type Range } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { headSentence } from "../model/incident";
import type { AlertLane, LaneSpan } from "../model/lanes";
import { useAlertPath } from "../model/use-alert-path";
import classes from "./time-lanes.module.css";
import { useDragZoom } from "./use-drag-zoom";

interface Props {
  readonly lanes: readonly AlertLane[];
  readonly runs: readonly RunLine[];
  readonly range: Range;
  /** Only a part of what was asked for is drawn: where there is something. */
  readonly fitted: boolean;
  readonly onZoom: (range: Range) => void;
}

const TICKS = 6;

/** Runs above, a lane for each alert's name below; a drag sideways zooms. The table says the same in words. */
export function TimeLanes({ lanes, runs, range, fitted, onZoom }: Props) {
  const { t } = useTranslation();
  const drag = useDragZoom(range, onZoom);
  const bands = runs.map((run) => bandOf(run, range)).filter((band) => band !== null);
  return (
    <section className={classes.lanes} aria-label={t("alerts.history.timeLine")}>
      <div className={classes.plot} {...drag.handlers}>
        <div className={classes.behind} aria-hidden="true" data-plot="">
          <GridLines range={range} />
          {bands.map((band) => (
            <span key={band.run.id} className={classes.shade} style={placeStyle(band.left, band.width)} />
          ))}
          {drag.selection !== null && (
            <span
              className={classes.selection}
              style={placeStyle(drag.selection.left * 100, drag.selection.width * 100)}
            />
          )}
        </div>
        {bands.length > 0 && (
          <div className={classes.lane}>
            <h2 className={classes.name}>{t("nav.runs")}</h2>
            <div className={classes.track} style={{ height: rowsHeight(1) }}>
              {bands.map(({ run, left, width }) => (
                <Link
                  key={run.id}
                  to={`/runs/${run.id}`}
                  className={classes.run}
                  style={placeStyle(left, width)}
                  title={runTitle(run)}
                  draggable={false}
                >
                  <span>{runTitle(run)}</span>
                </Link>
              ))}
            </div>
          </div>
        )}
        {lanes.map((lane) => (
          <Lane key={lane.name} lane={lane} />
        ))}
      </div>
      <p className={classes.hint}>
        {fitted && `${t("alerts.history.fitted")} `}
        {t("alerts.history.zoomHint")}
      </p>
    </section>
  );
}

function Lane({ lane }: { lane: AlertLane }) {
  const { t } = useTranslation();
  return (
    <div className={classes.lane}>
      <h2 className={classes.name} title={lane.name}>
        {lane.name}
      </h2>
      <div className={classes.track} style={{ height: rowsHeight(lane.rows) }}>
        {lane.spans.map((span) => (
          <Span key={span.alert.id} span={span} />
        ))}
        {lane.more > 0 && <span className={classes.more}>{t("alerts.history.moreRows", { total: lane.more })}</span>}
      </div>
    </div>
  );
}

function Span({ span }: { span: LaneSpan }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { zone } = useView();
  const path = useAlertPath();
  const { alert, others, startMs, endMs } = span;
  const lasted =
    endMs === null
      ? t("alerts.history.stillFiring")
      : t("alerts.lasted", { span: formatDuration(endMs - startMs, locale) });
  const more = others === 0 ? "" : t("alerts.history.others", { total: others });
  const begin = formatInstant(Math.floor(startMs / 1000) * 1000, zone, locale);
  const words = [alert.name, alert.severity, begin, lasted, more].filter(Boolean).join(", ");
  return (
    <Link
      to={path(alert.id)}
      className={classes.span}
      data-gravity={span.gravity}
      data-calm={alert.run !== null}
      data-open={span.open}
      style={{ ...placeStyle(span.left, span.width), top: span.row * ROW + 4 }}
      aria-label={words}
      title={`${words}\n${headSentence(alert, locale, zone)}`}
      draggable={false}
    />
  );
}

/** Lines and times; below the names, where the lanes are. */
function GridLines({ range }: { range: Range }) {
  const locale = useLocale();
  const { zone } = useView();
  const { step, values } = timeTicks(range.startMs, range.endMs, TICKS, zone);
  const length = range.endMs - range.startMs;
  return values.map((time) => (
    <span
      key={time}
      className={classes.tick}
      style={{ insetInlineStart: `${((time - range.startMs) / length) * 100}%` }}
    >
      {formatTick(time, step, zone, locale)}
    </span>
  ));
}

const ROW = 18;
const rowsHeight = (rows: number) => rows * ROW + 8;
const placeStyle = (left: number, width: number) => ({ insetInlineStart: `${left}%`, width: `${width}%` });

/** Where a run lies in the range; one that fell silent has no known end, so only its start is drawn. */
function bandOf(run: RunLine, range: Range) {
  const end = run.ended_ms ?? (run.silent ? run.started_ms : range.endMs);
  if (end < range.startMs || run.started_ms > range.endMs) return null;
  const place = (ms: number) => Math.min(1, Math.max(0, (ms - range.startMs) / (range.endMs - range.startMs))) * 100;
  const left = Math.min(99.6, place(run.started_ms));
  return { run, left, width: Math.max(0.4, place(end) - left) };
}
