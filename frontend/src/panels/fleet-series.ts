/** What a chart draws of signals whose values come late, of one instance or many. Pure. */
import type { SignalInfo } from "@/api/types";
import type { ChartSeries } from "@/charts/chart-types";
import { stackLayers } from "@/charts/lines/stacking";
import { type FleetMode, type Member, outliersOf, periodOf, spreadOf, totalOf } from "@/lib/series/fleet";
import { type Answer, type Grid, type Series, seriesKey, timeAt } from "@/lib/series/series";
import type { PanelInfo } from "@/panels/panel-catalogue";
import { chartSeries, greatest, keepLargest, limitsOf, MOST_SERIES, placeOf, thingsOf } from "@/panels/panel-series";

/** Names of what is not an instance. */
export interface FleetWords {
  readonly total: (kind: NonNullable<SignalInfo["total"]>, count: number) => string;
  readonly spread: (count: number) => string;
  readonly middle: string;
  readonly outlier: (name: string) => string;
  readonly worst: (name: string) => string;
  readonly all: (count: number) => string;
}

/** Charts that stand side by side: one for each value of the panel's label, `null` where series have none. */
export interface Pane {
  readonly value: string | null;
  /** Of its only instance, where each instance has a chart of its own. */
  readonly name?: string;
  readonly series: readonly ChartSeries[];
  /** Instances in it. */
  readonly count: number;
  /** Instances that are not drawn for want of room. */
  readonly dropped: number;
}

/** A chart with so many thin lines is grey; the ones with the highest values are kept. */
const MOST_FAINT = 40;
/** The order in which they stand side by side; others follow by name. */
const ORDER = ["writer", "primary", "reader", "replica"];

export function isLate(panel: Pick<PanelInfo, "signals">): boolean {
  return panel.signals.every(({ delivery }) => delivery != null);
}

/** Whether total, each and spread of late values differ: several instances of a signal that has a total. */
export function hasLateFleet(panel: PanelInfo, answer: Answer | undefined): boolean {
  if (answer === undefined) return false;
  const totals = new Map(panel.signals.filter(({ total }) => total != null).map((signal) => [signal.id, signal]));
  return answer.results.some(({ signal, series }) => {
    const others = [...(totals.get(signal)?.layers ?? []), ...(panel.split == null ? [] : [panel.split])];
    const instances = new Set(series.filter(hasValue).map(({ labels }) => instanceKey(labels, others)));
    return totals.has(signal) && instances.size > 1;
  });
}

/** The same for all series of one instance; `others` are labels by which it has several. */
export function instanceKey(labels: Series["labels"], others: readonly string[]): string {
  return JSON.stringify(
    Object.entries(labels)
      .filter(([label]) => !others.includes(label))
      .toSorted(),
  );
}

/** The values that may be drawn: a bound holds until it is discovered anew, but says nothing about what is to come. */
export function drawnResults(panel: PanelInfo, answer: Answer): Answer["results"] {
  const limits = limitsOf(panel);
  const newestMs = newestOf(panel, answer) ?? 0;
  return answer.results.map((result) => ({
    ...result,
    series: result.series
      .map((one) => ({
        ...one,
        values:
          result.newestMs != null && limits.has(result.signal)
            ? one.values.map((value, index) => (timeAt(answer, index) > newestMs ? null : value))
            : one.values,
      }))
      // After a failover, or once roles are known, a line goes on under other labels and leaves an empty one behind.
      .filter(hasValue),
  }));
}

export function panesOf(panel: PanelInfo, answer: Answer, mode: FleetMode, words: FleetWords): readonly Pane[] {
  const label = panel.split ?? null;
  const shown = { ...answer, results: drawnResults(panel, answer) };
  const values = valuesOf(panel, shown, label);
  if (values.length <= 1) return [paneOf(panel, shown, mode, words, values[0] ?? null, null)];
  return values.map((value) => paneOf(panel, shown, mode, words, value, label));
}

/** A chart of each instance, by name; where there are very many, of those that reach highest. */
export function instancePanes(panel: PanelInfo, answer: Answer): readonly Pane[] {
  const limits = limitsOf(panel);
  const results = drawnResults(panel, answer).filter(({ signal }) => !signal.includes("@"));
  const instances = new Map<string, { reach: number; count: number }>();
  for (const { labels, values } of results
    .filter(({ signal }) => !limits.has(signal))
    .flatMap(({ series }) => series)) {
    const { reach, count } = instances.get(labels.instance ?? "") ?? { reach: Number.NEGATIVE_INFINITY, count: 0 };
    instances.set(labels.instance ?? "", { reach: Math.max(reach, greatest(values)), count: count + 1 });
  }
  const highest = [...instances].toSorted(([, a], [, b]) => b.reach - a.reach);
  const absent = highest.slice(MOST_SERIES).reduce((sum, [, { count }]) => sum + count, 0);
  const kept = highest.slice(0, MOST_SERIES).map(([name]) => name);
  kept.sort((a, b) => a.localeCompare(b, undefined, { numeric: true }));
  return kept.map((name, place) => {
    // A bound without an instance is that of all.
    const isOwn = ({ labels: { instance } }: Series, signal: string) =>
      (instance ?? "") === name || (instance === undefined && limits.has(signal));
    const own = results.map((one) => ({ ...one, series: one.series.filter((each) => isOwn(each, one.signal)) }));
    const { series, dropped } = keepLargest(chartSeries(panel, { ...answer, results: own }));
    const isLast = place === kept.length - 1;
    return { value: name, ...(name !== "" && { name }), series, count: 1, dropped: dropped + (isLast ? absent : 0) };
  });
}

/** What stands side by side: the values of a label, in their order. */
export function valuesOf(panel: PanelInfo, answer: Answer, label: string | null): readonly (string | null)[] {
  const limits = limitsOf(panel);
  const all = answer.results.filter(({ signal }) => !limits.has(signal)).flatMap(({ series }) => series);
  return [...new Set(all.map(({ labels }) => (label === null ? null : (labels[label] ?? null))))].toSorted(byRole);
}

function hasValue({ values }: Series): boolean {
  return values.some((value) => value !== null);
}

/** Order of values side by side. */
export function byRole(a: string | null, b: string | null): number {
  const place = (value: string | null) => {
    const known = value === null ? ORDER.length + 1 : ORDER.indexOf(value);
    return known < 0 ? ORDER.length : known;
  };
  return place(a) - place(b) || (a ?? "").localeCompare(b ?? "");
}

function paneOf(
  panel: PanelInfo,
  answer: Answer,
  mode: FleetMode,
  words: FleetWords,
  value: string | null,
  label: string | null,
): Pane {
  const bySignal = new Map(answer.results.map((result) => [result.signal, result.series]));
  const drawn = panel.signals.filter(({ limit }) => !limit).map(({ id }) => id);
  let count = 0;
  let dropped = 0;
  const series = panel.signals.flatMap((signal): readonly ChartSeries[] => {
    const own = (bySignal.get(signal.id) ?? []).filter(
      (one) => label === null || (one.labels[label] ?? null) === value,
    );
    if (signal.limit) return drawLimit(signal, own, answer, mode, words, count);
    count = Math.max(count, own.length);
    const standing = { place: drawn.indexOf(signal.id), of: drawn.length };
    const lines = drawSignal(signal, own, answer, mode, words, panel.signals.length > 1, standing);
    if (mode === "each" || signal.total == null) dropped += own.length - lines.length;
    return lines;
  });
  return { value, series, count, dropped };
}

/** The bound of what is drawn: one line where it is the same for all, their total where all have one. */
export function drawLimit(
  signal: SignalInfo,
  own: readonly Series[],
  grid: Grid,
  mode: FleetMode,
  words: FleetWords,
  instances: number,
): readonly ChartSeries[] {
  const limit = { id: `${signal.id} limit`, name: signal.title, kind: "limit" as const };
  const last = new Set(own.map(({ values }) => values.findLast((value) => value !== null)));
  const [first] = own;
  if (first === undefined) return [];
  const known = own.length >= instances;
  if (known && (own.length === 1 || (mode !== "total" && last.size === 1))) {
    // After a failover an instance has two series, one after the other.
    const values = first.values.map(
      (value, index) => value ?? own.find((one) => one.values[index] != null)?.values[index] ?? null,
    );
    return [{ ...limit, values }];
  }
  if (mode === "each")
    return own.map((one) => ({ ...limit, id: `${signal.id} ${seriesKey(one)}`, name: one.name, values: one.values }));
  if (mode === "spread" || signal.total == null || !known) return [];
  const members = own.map(({ values }): Member => ({ values, periodMs: grid.stepMs }));
  return [
    {
      ...limit,
      name: `${signal.title} · ${words.total(signal.total, own.length)}`,
      values: totalOf(members, grid, signal.total),
    },
  ];
}

export function drawSignal(
  signal: SignalInfo,
  own: readonly Series[],
  grid: Grid,
  mode: FleetMode,
  words: FleetWords,
  shared: boolean,
  { place: slot, of }: { readonly place: number; readonly of: number },
): readonly ChartSeries[] {
  const shortest = signal.delivery?.period_ms ?? null;
  const declared = shortest === null ? null : Math.max(shortest, grid.stepMs);
  const members = own.map(
    (one): Member => ({
      values: one.values,
      periodMs: declared === null ? grid.stepMs : periodOf(one.values, grid.stepMs, declared),
    }),
  );
  const things = thingsOf(signal, own);
  const line = (place: number, more: Partial<ChartSeries> = {}): ChartSeries => ({
    id: `${signal.id} ${seriesKey(own[place] ?? { name: "", labels: {} })}`,
    name: own[place]?.name ?? "",
    values: members[place]?.values ?? [],
    ...(declared !== null && { kind: "period" as const, periodMs: members[place]?.periodMs ?? declared }),
    ...(own[place] !== undefined &&
      placeOf(own[place], { place: slot, of, beside: own.length, thing: things[place] ?? "" })),
    ...more,
  });
  const outliers = outliersOf(members);
  const named = (place: number) => line(place, { name: words.outlier(own[place]?.name ?? "") });
  const all = own.map((_, place) => place);
  const total = signal.total ?? null;
  if (own.length <= 1 || total === null || mode === "each") {
    const others = all.filter((place) => !outliers.includes(place));
    const kept = new Set([...outliers, ...highest(others, own, MOST_SERIES - outliers.length)]);
    return all
      .filter((place) => kept.has(place))
      .map((place) => (outliers.includes(place) ? named(place) : line(place)));
  }
  const periodMs = Math.max(declared ?? grid.stepMs, grid.stepMs);
  const kind = { kind: "period" as const, periodMs, slot };
  const title = (text: string) => (shared ? `${signal.title} · ${text}` : text);
  const marked = outliers.map(named);
  if (mode === "spread") {
    const { low, middle, high } = spreadOf(members, grid);
    return [
      {
        id: `${signal.id} spread`,
        name: title(words.spread(own.length)),
        values: high,
        floor: low,
        ...kind,
        kind: "band",
      },
      { id: `${signal.id} middle`, name: title(words.middle), values: middle, ...kind },
      ...marked,
    ];
  }
  const rest = all.filter((place) => !outliers.includes(place));
  return [
    ...highest(rest, own, MOST_FAINT).map((place) => line(place, { faint: true, slot })),
    ...marked,
    {
      id: `${signal.id} total`,
      name: title(words.total(total, own.length)),
      values: totalOf(members, grid, total),
      ...kind,
    },
  ];
}

function highest(places: readonly number[], own: readonly Series[], most: number): readonly number[] {
  if (places.length <= most) return places;
  const reach = (place: number) =>
    (own[place]?.values ?? []).reduce<number>((most, value) => Math.max(most, value ?? most), Number.NEGATIVE_INFINITY);
  const kept = new Set(places.toSorted((a, b) => reach(b) - reach(a)).slice(0, most));
  return places.filter((place) => kept.has(place));
}

/** Least and greatest of all that panes draw, stacks as high as they stand, so that they can be read against each other. */
export function commonExtent(panes: readonly Pane[]): { readonly min: number; readonly max: number } | null {
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (const value of panes.flatMap(({ series }) =>
    stackLayers(series, Math.max(0, ...series.map(({ values }) => values.length))).flatMap(
      ({ tops, series: { floor } }) => [...tops, ...(floor ?? [])],
    ),
  )) {
    if (value === null) continue;
    min = Math.min(min, value);
    max = Math.max(max, value);
  }
  return min > max ? null : { min, max };
}

/** Time of the newest value that was delivered for any of the panel's signals; a bound is not delivered. */
export function newestOf(panel: PanelInfo, answer: Answer): number | null {
  const limits = limitsOf(panel);
  return answer.results.reduce<number | null>(
    (newest, one) => (one.newestMs == null || limits.has(one.signal) ? newest : Math.max(newest ?? 0, one.newestMs)),
    null,
  );
}
