/** What a chart draws of parts of a whole, layer on layer, of one instance or many. Pure. */
import type { SignalInfo } from "@/api/types";
import type { ChartSeries } from "@/charts/chart-types";
import { type FleetMode, type Member, periodOf, totalOf } from "@/lib/series/fleet";
import { assignPlaces, PALETTE_SIZE, type Placed, wishOf } from "@/lib/series/palette-places";
import type { Answer, Series, Values } from "@/lib/series/series";
import {
  byRole,
  drawLimit,
  drawnResults,
  drawSignal,
  type FleetWords,
  instanceKey,
  type Pane,
  valuesOf,
} from "@/panels/fleet-series";
import type { PanelInfo } from "@/panels/panel-catalogue";

/** With what is left as the last one, as many as there are colours. */
const MOST_LAYERS = 7;
/** Charts of single instances; those that reach highest. */
const MOST_PANES = 12;
/** What is left of the whole is not listed as long as it is only what rounding leaves. */
const LEAST_REST = 0.005;
const REST = "rest";
const REST_PLACE = PALETTE_SIZE - 1;
const CPU = "CPU";

/** One series: a layer of an instance. */
interface Part {
  readonly layer: string;
  readonly instance: string;
  readonly name: string;
  readonly signal: SignalInfo;
  readonly series: Series;
}

interface Layer {
  readonly key: string;
  readonly name: string;
  readonly total: NonNullable<SignalInfo["total"]>;
  /** Its place in the palette. */
  readonly slot: number;
}

/**
 * Panes of a stacked panel: stacks of totals by role, one stack an instance, or the spread of the instances' sums. Of
 * an instance that has delivered anything at a time, a layer without a value is nothing; one that has delivered nothing
 * is late, and no total is made without it.
 */
export function stackPanes(
  panel: PanelInfo,
  answer: Answer,
  mode: FleetMode,
  words: FleetWords,
  restName: string,
): readonly Pane[] {
  const shown = { ...answer, results: drawnResults(panel, answer) };
  const parts = partsOf(panel, shown);
  const layers = layersOf(panel, parts, restName);
  const label = panel.split ?? null;
  const pane = (value: string | null, own: readonly Part[], name?: string): Pane => ({
    ...paneOf(panel, shown, own, layers, mode, words),
    value,
    ...(name !== undefined && { name }),
  });
  const instances = byInstance(parts.filter(({ signal }) => !signal.limit));
  if (mode === "each" && instances.size > 1) {
    const highest = [...instances].toSorted(([, a], [, b]) => heightOf(b) - heightOf(a));
    const kept = highest
      .slice(0, MOST_PANES)
      .toSorted(([, a], [, b]) => byRole(roleOf(a, label), roleOf(b, label)) || nameOf(a).localeCompare(nameOf(b)));
    return kept.map(([key, own], place) => ({
      ...pane(
        key,
        parts.filter(({ instance }) => instance === key),
        nameOf(own),
      ),
      dropped: place === kept.length - 1 ? instances.size - kept.length : 0,
    }));
  }
  const values = valuesOf(panel, shown, label);
  if (values.length <= 1) return [pane(values[0] ?? null, parts)];
  return values.map((value) =>
    pane(
      value,
      parts.filter(({ series }) => label !== null && (series.labels[label] ?? null) === value),
    ),
  );
}

function nameOf([first]: readonly Part[]): string {
  return first?.name ?? "";
}

/** The role that an instance had last. */
function roleOf(parts: readonly Part[], label: string | null): string | null {
  return label === null ? null : (parts.at(-1)?.series.labels[label] ?? null);
}

function partsOf(panel: PanelInfo, answer: Answer): readonly Part[] {
  const results = new Map(answer.results.map((result) => [result.signal, result.series]));
  return panel.signals.flatMap((signal) => {
    const layers = signal.layers;
    const others = panel.split == null ? layers : [...layers, panel.split];
    return (results.get(signal.id) ?? []).map((series) => ({
      layer: layers.length === 0 ? signal.id : (layerName(series, layers) ?? REST),
      instance: instanceKey(series.labels, others),
      name: instanceName(signal, series, layers),
      signal,
      series,
    }));
  });
}

function byInstance(parts: readonly Part[]): ReadonlyMap<string, readonly Part[]> {
  const found = new Map<string, Part[]>();
  for (const part of parts) found.set(part.instance, [...(found.get(part.instance) ?? []), part]);
  return found;
}

/** `io/table/sql/handler` has its type `io` in itself; `WALWrite` of the type `LWLock` has not. */
function layerName({ labels }: Series, layers: readonly string[]): string | null {
  const parts = layers.map((label) => labels[label] ?? "").filter((text) => text !== "");
  const own = parts.at(-1);
  if (own === undefined) return null;
  const before = parts.slice(0, -1).filter((text) => !own.toLowerCase().startsWith(text.toLowerCase()));
  return [...before, own].join(":");
}

function instanceName({ legend }: SignalInfo, { labels }: Series, layers: readonly string[]): string {
  return legend
    .replace(/\{\{\s*(\w+)\s*\}\}/g, (_, label: string) => (layers.includes(label) ? "" : (labels[label] ?? "")))
    .trim()
    .replace(/\s+/g, " ");
}

/** The layers from the axis up: signals in their order, or CPU and then by name; what is smallest is one layer on top. */
function layersOf(panel: PanelInfo, parts: readonly Part[], restName: string): readonly Layer[] {
  const own = parts.filter(({ signal }) => !signal.limit);
  const sums = new Map<string, number>();
  for (const { layer, series } of own)
    sums.set(layer, (sums.get(layer) ?? 0) + series.values.reduce<number>((sum, value) => sum + (value ?? 0), 0));
  const named = own.some(({ signal }) => signal.layers.length > 0);
  const places = new Map(panel.signals.map(({ id }, place) => [id, place]));
  const all = [...new Map(own.map((part) => [part.layer, part])).values()]
    .filter(({ layer }) => layer !== REST)
    .map(({ layer, signal }): Omit<Layer, "slot"> & Placed => ({
      ...{ key: layer, id: layer, name: named ? layer : signal.title, total: signal.total ?? "sum" },
      ...placeOfLayer(layer, named ? null : (places.get(signal.id) ?? null)),
    }));
  const kept = new Set(
    all
      .toSorted((a, b) => (sums.get(b.key) ?? 0) - (sums.get(a.key) ?? 0))
      .slice(0, MOST_LAYERS)
      .map(({ key }) => key),
  );
  const shown = all.filter(({ key }) => kept.has(key));
  if (named) shown.sort((a, b) => Number(b.key === CPU) - Number(a.key === CPU) || a.key.localeCompare(b.key));
  const rest = { key: REST, id: REST, name: restName, total: own[0]?.signal.total ?? "sum", slot: REST_PLACE };
  const slots = assignPlaces([...shown, rest], new Map());
  return [...shown, rest].map(({ key, name, total }) => ({ key, name, total, slot: slots.get(key) ?? REST_PLACE }));
}

/** What waits for nothing is the first of all stacks, and what is left over the last; signals stand in their order. */
function placeOfLayer(layer: string, signalPlace: number | null): { slot: number } | { wish: number } {
  if (signalPlace !== null) return { slot: signalPlace };
  return layer === CPU ? { slot: 0 } : { wish: wishOf(layer) };
}

function paneOf(
  panel: PanelInfo,
  answer: Answer,
  parts: readonly Part[],
  layers: readonly Layer[],
  mode: FleetMode,
  words: FleetWords,
): Omit<Pane, "value"> {
  const own = parts.filter(({ signal }) => !signal.limit);
  const known = byInstance(own);
  const instances = [...known.values()];
  const [signal] = panel.signals;
  const limits = panel.signals
    .filter(({ limit }) => limit)
    .flatMap((one) => {
      const bounds = parts.filter((part) => part.signal.id === one.id && known.has(part.instance));
      const series = bounds.map((part) => part.series);
      return drawLimit(one, series, answer, mode, words, instances.length);
    });
  const count = instances.length;
  if (mode === "spread" && count > 1 && signal !== undefined) {
    const sums = instances.map(
      (some): Series => ({ name: some[0]?.name ?? "", labels: { name: some[0]?.instance ?? "" }, values: sumOf(some) }),
    );
    return {
      series: [...drawSignal(signal, sums, answer, mode, words, false, { place: 0, of: 1 }), ...limits],
      count,
      dropped: 0,
    };
  }
  const listed = new Set(layers.map(({ key }) => key));
  const series = layers.flatMap(({ key, name, total, slot }): readonly ChartSeries[] => {
    const members = instances.map((some): Member => memberOf(some, key, listed, answer));
    const values = totalOf(members, answer, total);
    if (key === REST && !values.some((value) => value !== null && value > LEAST_REST)) return [];
    return [{ id: key, name, values, kind: "band", stack: "all", slot, periodMs: answer.stepMs }];
  });
  return { series: [...series, ...limits], count, dropped: 0 };
}

/** A layer of one instance, nothing where the instance has delivered other layers only. */
function memberOf(parts: readonly Part[], key: string, listed: ReadonlySet<string>, grid: Answer): Member {
  const whole = sumOf(parts);
  const own = sumOf(parts.filter(({ layer }) => layer === key || (key === REST && !listed.has(layer))));
  const declared = Math.max(parts[0]?.signal.delivery?.period_ms ?? 0, grid.stepMs);
  return {
    values: whole.map((value, index) => (value === null ? null : (own[index] ?? 0))),
    periodMs: periodOf(whole, grid.stepMs, declared),
  };
}

function sumOf(parts: readonly Part[]): Values {
  const count = Math.max(0, ...parts.map(({ series }) => series.values.length));
  return Array.from({ length: count }, (_, index) => {
    const present = parts.map(({ series }) => series.values[index] ?? null).filter((value) => value !== null);
    return present.length === 0 ? null : present.reduce((sum, value) => sum + value, 0);
  });
}

function heightOf(parts: readonly Part[]): number {
  const own = sumOf(parts.filter(({ signal }) => !signal.limit));
  return own.reduce<number>((most, value) => Math.max(most, value ?? 0), 0);
}
