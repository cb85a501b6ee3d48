import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { KeyFigure, Run } from "@/api/runs/types";
import { formatElapsed, formatSuccess } from "@/lib/run-text";
import { formatDuration } from "@/lib/time/time";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { useLiveFindings } from "@/panels/findings/use-live-findings";
import { useWords } from "@/panels/findings/words";
import { isOutcome } from "@/panels/run/key-figure-model";
import { useFigureName, useFigureWindow, valueText } from "@/panels/run/key-figures";
import { StateMark, type Tone } from "@/ui/state-mark";
import classes from "./cockpit.module.css";
import { failedShare, figureOf, isLatency, sentRate } from "./figures";

interface CellProps {
  readonly label: string;
  /** What the label is held against; it gives way where there is no room. */
  readonly bound?: string;
  /** What the figure covers. */
  readonly window?: string;
  readonly hint?: string | undefined;
  /** It gives way first where there is no room. */
  readonly minor?: boolean;
  readonly wide?: boolean;
  /** It stands beside the name where figures have a line of their own. */
  readonly time?: boolean;
  /** It gives way where several runs have a line each on a phone. */
  readonly alone?: boolean;
  readonly children: ReactNode;
}

function Cell({
  label,
  bound = "",
  window = "",
  hint,
  minor = false,
  wide = false,
  time = false,
  alone = false,
  children,
}: CellProps) {
  return (
    <div className={classes.cell} data-minor={minor} data-wide={wide} data-time={time} data-alone={alone} title={hint}>
      <dt>
        {label}
        {bound !== "" && <span className={classes.bound}> {bound}</span>}
        {window !== "" && <span className={classes.window}>{window}</span>}
      </dt>
      <dd>{children}</dd>
    </div>
  );
}

const TONES: Readonly<Record<NonNullable<KeyFigure["state"]>, Tone>> = {
  passed: "ok",
  failed: "bad",
  unknown: "unknown",
};

/** The time of a run, of the time that it is to last. */
export function TimeCell({ run, nowMs }: { run: Run; nowMs: number }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const text = (ms: number) =>
    ms < 86_400_000 ? formatElapsed(Math.floor(Math.max(0, ms) / 1000)) : formatDuration(ms, locale);
  const elapsed = text((run.ended_ms ?? nowMs) - run.started_ms);
  const whole = run.target_duration_seconds ?? null;
  const ended = run.ended_ms === null ? null : formatDuration(Math.max(0, nowMs - run.ended_ms), locale);
  return (
    <Cell time label={t("cockpit.elapsed")} {...(ended !== null && { window: t("cockpit.ended", { age: ended }) })}>
      <span role="timer">
        {whole === null ? elapsed : t("cockpit.of", { elapsed, whole: text(Math.round(whole * 1000)) })}
      </span>
    </Cell>
  );
}

/** What is sent now against the target; of a run of which no sender tells, its good answers. */
export function RateCell({ run, nowMs }: { run: Run; nowMs: number }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const sent = sentRate(run, nowMs);
  const good = figureOf(run, ({ id }) => id === "ok_rate");
  if (sent === null) return good === null ? null : <FigureCell figure={good} run={run} />;
  const value = formatValue(sent.value, "per_second", locale);
  return (
    <Cell label={t("cockpit.sent")} window={t("cockpit.now")} hint={t("cockpit.sentHint")}>
      {sent.target === null
        ? value
        : t("cockpit.ofTarget", { value, target: formatValue(sent.target, "per_second", locale) })}
      {sent.reached !== null && (
        <StateMark
          bare
          tone={sent.reached ? "ok" : "bad"}
          label={t(sent.reached ? "cockpit.reached" : "cockpit.missed")}
        />
      )}
    </Cell>
  );
}

interface FigureProps {
  readonly figure: KeyFigure;
  readonly run: Run;
  readonly minor?: boolean;
  readonly alone?: boolean;
}

/** A figure of the run's document: with its threshold where one judges it, else with what it is held against. */
function FigureCell({ figure, run, minor = false, alone = false }: FigureProps) {
  const { t } = useTranslation();
  const locale = useLocale();
  const window = useFigureWindow(figure, run.state === "running");
  const full = useFigureName(figure.id);
  const name = isLatency(figure) ? figure.id : figure.id === "stored" ? t("cockpit.stored") : full;
  const { value, against, base, threshold } = figure;
  const text = valueText(figure, value, locale);
  const other = against === null ? "" : valueText(figure, against, locale);
  const words =
    value === null || against === null
      ? text
      : base === "target"
        ? t("cockpit.ofTarget", { value: text, target: other })
        : base === "accepted"
          ? t("cockpit.ofAccepted", { value: text, base: other })
          : base === "answered_ok"
            ? t("cockpit.ofAnswered", { value: text, base: other })
            : text;
  return (
    <Cell
      label={name}
      {...(threshold !== "" && base === "threshold" && { bound: bound(run, figure, other) })}
      hint={[window, t("cockpit.delay")].filter(Boolean).join(" · ")}
      minor={minor}
      alone={alone}
    >
      {words}
      <ThresholdMark run={run} figure={figure} />
    </Cell>
  );
}

/** Whether the threshold holds; where that is not known, why. */
function ThresholdMark({ run, figure: { state, threshold } }: { run: Run; figure: KeyFigure }) {
  const { t } = useTranslation();
  const locale = useLocale();
  if (state === null) return null;
  const one = run.thresholds.find(({ expression }) => expression === threshold);
  const why = state === "unknown" && one !== undefined && ((locale === "ja" && one.detail_ja) || one.detail);
  return <StateMark bare tone={TONES[state]} label={why || t(`runs.page.threshold_${state}`)} />;
}

function bound(run: Run, { threshold }: KeyFigure, text: string): string {
  const operator = run.thresholds.find(({ expression }) => expression === threshold)?.operator ?? "";
  return `${operator} ${text}`;
}

/** A response time against its threshold. */
export function LatencyCell({ run }: { run: Run }) {
  const figure = figureOf(run, isLatency);
  return figure === null ? null : <FigureCell figure={figure} run={run} alone />;
}

/** Rows in the database against what was accepted; nothing where nobody counts. */
export function StoredCell({ run }: { run: Run }) {
  const figure = figureOf(run, ({ id, value }) => id === "stored" && value !== null);
  return figure === null ? null : <FigureCell figure={figure} run={run} minor />;
}

/** The share that failed, and as what. */
export function FailingCell({ run }: { run: Run }) {
  const { t } = useTranslation();
  const figure = figureOf(run, ({ id }) => id === "error_rate");
  const window = useFigureWindow(figure, run.state === "running");
  if (figure === null) return null;
  const { state, against } = figure;
  const { value, kinds } = failedShare(run, figure);
  const names = kinds.map((kind) => (isOutcome(kind) ? t(`runs.outcome_${kind}`) : kind));
  const limit = against === null ? "" : bound(run, figure, formatSuccess(against));
  return (
    <Cell label={t("cockpit.failing")} bound={limit} hint={[window, t("cockpit.delay")].filter(Boolean).join(" · ")}>
      <span data-failing={state === "failed"}>{formatSuccess(value)}</span>
      {names.length > 0 && <span className={classes.beside}>{names.join(", ")}</span>}
      <ThresholdMark run={run} figure={figure} />
    </Cell>
  );
}

/** What ran out first, and when: in the words of the page's headline, where that is about this run. */
export function FirstCell({ run }: { run: Run }) {
  const { t } = useTranslation();
  const words = useWords();
  const live = useLiveFindings().data;
  const now = live?.run === run.id && (live.headline?.from_ms ?? 0) <= (run.ended_ms ?? Infinity);
  const headline = now ? live.headline : run.diagnosis?.headline;
  const fromMs = headline?.from_ms ?? null;
  return (
    <Cell label={t("cockpit.first")} hint={headline ? words(headline.text) : t("cockpit.delay")} wide>
      <span className={classes.first} data-found={fromMs !== null}>
        {headline ? words(headline.title) : "–"}
      </span>
      {fromMs !== null && (
        <span className={classes.time}>
          {t("cockpit.at", { time: formatElapsed(Math.max(0, Math.round((fromMs - run.started_ms) / 1000))) })}
        </span>
      )}
    </Cell>
  );
}
