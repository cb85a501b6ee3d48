/** From a panel's answer to what its chart draws. Pure. */
import type { SignalInfo } from "@/api/types";
import type { ChartSeries } from "@/charts/chart-types";
import { periodOf } from "@/lib/series/fleet";
import { placeByLabels, wishOf } from "@/lib/series/palette-places";
import { type Answer, type Series, seriesKey, type Values } from "@/lib/series/series";
import type { PanelInfo } from "@/panels/panel-catalogue";

/** More lines than this are not told apart by anyone; the largest by their last value are kept. */
export const MOST_SERIES = 24;

export function chartSeries(panel: PanelInfo, answer: Answer): readonly ChartSeries[] {
  const order = new Map(panel.signals.map((signal, place) => [signal.id, place]));
  const drawn = panel.signals.filter(({ limit }) => !limit).map(({ id }) => id);
  const limits = limitsOf(panel);
  const periods = new Map(panel.signals.map(({ id, delivery }) => [id, delivery?.period_ms]));
  return answer.results
    .toSorted((a, b) => (order.get(a.signal) ?? 0) - (order.get(b.signal) ?? 0))
    .flatMap((result) => {
      const things = thingsOf(panel.signals[order.get(result.signal) ?? 0], result.series);
      const standing = { place: drawn.indexOf(result.signal), of: drawn.length, beside: result.series.length };
      return result.series.map((series, place) => ({
        id: `${result.signal} ${seriesKey(series)}`,
        name: series.name,
        values: series.values,
        ...(result.finalMs == null ? {} : { finalMs: result.finalMs }),
        ...placeOf(series, { ...standing, thing: things[place] ?? series.name }),
        ...(limits.has(result.signal)
          ? { kind: "limit" as const }
          : lateLook(periods.get(result.signal), series.values, answer.stepMs)),
      }));
    });
}

/** A signal among the panel's, how many series it has, and what one of them belongs to. */
interface Standing {
  readonly place: number;
  readonly of: number;
  readonly beside: number;
  readonly thing: string;
}

/** Signals that share a chart are told by their colour; of several instances each has its own, and signals their dash. */
export function placeOf({ labels }: Series, { place, of, beside, thing }: Standing): Partial<ChartSeries> {
  const known = placeByLabels(labels);
  if (known !== null) return { slot: known };
  if (of > 1 && beside <= 1) return { wish: place };
  return { thing, wish: wishOf(thing), ...(of > 1 && { variant: place }) };
}

/**
 * What each series of a signal belongs to, the same on every chart: its instance where nothing else tells it from the
 * others, what stands beside the instance where all are of one, and else its name without the signal's title.
 */
export function thingsOf(signal: SignalInfo | undefined, series: readonly Series[]): readonly string[] {
  const names = series.map(({ name }) => (signal === undefined ? name : name.replace(`${signal.title} · `, "")));
  const instances = series.map(({ labels }) => labels.instance ?? "");
  const different = new Set(instances).size;
  if (different === series.length && !instances.includes("")) return instances;
  if (different > 1) return names;
  return names.map((name, place) => name.replace(instances[place] ?? "", "").trim() || name);
}

function lateLook(declaredMs: number | undefined, values: Values, stepMs: number): Partial<ChartSeries> {
  return declaredMs === undefined ? {} : { kind: "period", periodMs: periodOf(values, stepMs, declaredMs) };
}

/** Which of the signals are bounds of the others; one that moves with time is a signal like any other. */
export function limitsOf({ signals }: Pick<PanelInfo, "signals">): ReadonlySet<string> {
  return new Set(signals.filter(({ limit }) => limit).map(({ id }) => id));
}

export interface Trimmed {
  readonly series: readonly ChartSeries[];
  readonly dropped: number;
}

/** At most `most` series: those that reach highest, in their former order. */
export function keepLargest(series: readonly ChartSeries[], most = MOST_SERIES): Trimmed {
  if (series.length <= most) return { series, dropped: 0 };
  const reach = new Map(series.map((one) => [one.id, greatest(one.values)]));
  const kept = new Set(
    series
      .toSorted((a, b) => (reach.get(b.id) ?? 0) - (reach.get(a.id) ?? 0))
      .slice(0, most)
      .map((one) => one.id),
  );
  return { series: series.filter((one) => kept.has(one.id)), dropped: series.length - most };
}

export function greatest(values: ChartSeries["values"]): number {
  return values.reduce<number>(
    (most, value) => Math.max(most, value ?? Number.NEGATIVE_INFINITY),
    Number.NEGATIVE_INFINITY,
  );
}

/** Shorter means look like values of an instant in any range that a page shows. */
const LEAST_MEAN_MS = 30_000;

/** What the points of a chart are means of, by the longest of its signals; null where they pass for instants. */
export function meanOf({ results }: Answer): number | null {
  const longest = Math.max(0, ...results.map(({ series, meanMs }) => (series.length === 0 ? 0 : (meanMs ?? 0))));
  return longest < LEAST_MEAN_MS ? null : longest;
}

export interface PanelFault {
  readonly count: number;
  readonly total: number;
  readonly detail: string;
}

/** What of the panel could not be read, or null. */
export function panelFault(answer: Answer): PanelFault | null {
  const failed = answer.results.filter((result) => result.error !== null);
  const detail = failed[0]?.error?.detail;
  return detail === undefined ? null : { count: failed.length, total: answer.results.length, detail };
}

/**
 * Whether there is anything to show; a value that came before the range is, and says how late its source is. A bound
 * that was discovered is nothing without what it bounds.
 */
export function hasValues(panel: Pick<PanelInfo, "signals">, answer: Answer | undefined): boolean {
  const limits = limitsOf(panel);
  return (
    answer?.results.some(({ signal, series, newestMs }) =>
      newestMs == null ? series.some(({ values }) => values.some((value) => value !== null)) : !limits.has(signal),
    ) ?? false
  );
}
