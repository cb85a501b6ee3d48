import { useTranslation } from "react-i18next";
import type { KeyFigure } from "@/api/runs/types";
import { formatChange, formatCount, formatMeasure, formatSuccess } from "@/lib/run-text";
import type { Locale } from "@/lib/time/time";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { StateMark, type Tone } from "@/ui/state-mark";
import { changeOf, isOutcome, ownName } from "./key-figure-model";
import classes from "./key-figures.module.css";

interface Props {
  readonly figures: readonly KeyFigure[];
  /** Those of the scenario's baseline, to stand beside them. */
  readonly baseline?: readonly KeyFigure[];
  /** The run is under way: what is said covers what there is until now. */
  readonly soFar?: boolean;
}

const TONES: Readonly<Record<NonNullable<KeyFigure["state"]>, Tone>> = {
  passed: "ok",
  failed: "bad",
  unknown: "unknown",
};

/** The figures that a run is read by first, each with what it is held against and what it covers. */
export function KeyFigures({ figures, baseline = [], soFar = false }: Props) {
  const { t } = useTranslation();
  return (
    <div className={classes.box}>
      <dl className={classes.figures} aria-label={t("figures.title")}>
        {figures.map((figure) => (
          <Figure key={figure.id} figure={figure} base={baseline.find(({ id }) => id === figure.id)} soFar={soFar} />
        ))}
      </dl>
    </div>
  );
}

interface FigureProps {
  readonly figure: KeyFigure;
  readonly base: KeyFigure | undefined;
  readonly soFar: boolean;
}

function Figure({ figure, base, soFar }: FigureProps) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { state, threshold, kinds } = figure;
  const outcomes = kinds.map((kind) => (isOutcome(kind) ? t(`runs.outcome_${kind}`) : kind));
  const notes = [useAgainst(figure), outcomes.join(", "), useNote(figure)].filter(Boolean);
  const change = changeOf(figure, base);
  return (
    <div className={classes.figure} data-state={state ?? "none"}>
      <dt>
        {useFigureName(figure.id)} <span className={classes.window}>{useFigureWindow(figure, soFar)}</span>
      </dt>
      <dd className={classes.value}>{valueText(figure, figure.value, locale)}</dd>
      <dd className={classes.beside}>
        {notes.length > 0 && <span>{notes.join(" · ")}</span>}
        {state !== null && (
          <span className={classes.threshold}>
            <StateMark tone={TONES[state]} label={t(`runs.page.threshold_${state}`)} /> <code>{threshold}</code>
          </span>
        )}
        {change !== null && base !== undefined && (
          <span>
            {change.relative !== null && <strong>{formatChange(change.relative)}</strong>}{" "}
            {t("figures.baseline", { value: valueText(base, base.value, locale) })}
          </span>
        )}
      </dd>
    </div>
  );
}

/** What a figure is called. */
export function useFigureName(id: string): string {
  const { t } = useTranslation();
  const own = ownName(id);
  if (own !== null) return own;
  switch (id) {
    case "ok_rate":
    case "error_rate":
    case "stored":
    case "mean":
    case "max":
      return t(`figures.name_${id}`);
    default:
      return t("figures.latency", { name: id });
  }
}

/** What a figure covers; nothing where there is none. */
export function useFigureWindow(figure: KeyFigure | null, soFar: boolean): string {
  const { t } = useTranslation();
  if (figure === null || figure.value === null) return "";
  const { window } = figure;
  if (window === "steady") return t("figures.window_steady");
  if (window === "whole") return t(soFar ? "figures.window_soFar" : "figures.window_whole");
  return window.replace("..", "–");
}

/** What a figure stands against; a threshold says its limit itself. */
function useAgainst(figure: KeyFigure): string {
  const { t } = useTranslation();
  const locale = useLocale();
  const { against, base, value } = figure;
  if (against === null || base === "" || base === "threshold") return "";
  const text = { value: valueText(figure, against, locale) };
  if (base === "target") return t("figures.of_target", text);
  const of = base === "accepted" ? t("figures.of_accepted", text) : t("figures.of_answered", text);
  const missing = value === null ? 0 : Math.round(against) - Math.round(value);
  if (missing === 0) return of;
  const count = { value: formatCount(Math.abs(missing)) };
  return `${of}, ${missing > 0 ? t("runs.page.missing", count) : t("runs.page.surplus", count)}`;
}

const NOTES = ["no-result", "not-measured", "not-counted", "mixed"] as const;

function useNote({ note, state }: KeyFigure): string {
  const { t } = useTranslation();
  // What became of its threshold says it already.
  if (state === "unknown") return "";
  const code = NOTES.find((one) => one === note);
  return code === undefined ? note : t(`figures.note_${code}`);
}

export function valueText({ id, unit }: KeyFigure, value: number | null, locale: Locale): string {
  if (id === "error_rate") return formatSuccess(value);
  // A score without a unit is told to its last digit before the point.
  const score = ownName(id) !== null && unit === "" && (Number.isInteger(value) || Math.abs(value ?? 0) >= 10_000);
  if (unit === "count" || score) return formatCount(value);
  return unit === "per_second" ? formatValue(value, unit, locale) : formatMeasure(value, unit, locale);
}
