/**
 * What a chart draws of several instances that are measured each second. Their total and spread come from the server,
 * as signals of their own: of points that are the extrema of buckets no sum can be made here. Pure.
 */
import type { SignalInfo } from "@/api/types";
import type { ChartSeries } from "@/charts/chart-types";
import { type FleetMode, outliersOf, worstOf } from "@/lib/series/fleet";
import { wishOf } from "@/lib/series/palette-places";
import { type Answer, type Series, seriesKey } from "@/lib/series/series";
import { placeOfWorst } from "@/panels/findings/worst";
import { drawLimit, type FleetWords, hasLateFleet, isLate } from "@/panels/fleet-series";
import type { PanelInfo } from "@/panels/panel-catalogue";
import { chartSeries, keepLargest, type Trimmed, thingsOf } from "@/panels/panel-series";

/** Up to so many instances are told apart at a glance. */
const FEW_INSTANCES = 4;
const SPREAD = ["low", "middle", "high"] as const;

/** Whether the server can put instances of it together. */
function hasTotal(signal: SignalInfo): boolean {
  return signal.total != null && signal.delivery == null;
}

interface Fleet {
  readonly instances: number;
  /** Sets of the labels beside the instance, such as pools or users. */
  readonly kinds: number;
}

/** Who ended so long before the others is gone. */
const GONE_MS = 60_000;

/** How many instances of how many kinds a signal has, without those that are gone. */
function fleetOf(series: readonly Series[], stepMs: number): Fleet {
  const goneSteps = GONE_MS / stepMs;
  const lasts = series.map(({ values }) => values.findLastIndex((value) => value !== null));
  const newest = Math.max(...lasts);
  const present = series.filter((_, place) => (lasts[place] ?? -1) >= Math.max(0, newest - goneSteps));
  const kinds = new Set(
    present.map(({ labels: { instance: _own, ...others } }) => seriesKey({ name: "", labels: others })),
  );
  return { instances: new Set(present.map(({ labels }) => labels.instance)).size, kinds: kinds.size };
}

/** The signals of a panel of which there are several instances. */
function fleetsOf(panel: PanelInfo, answer: Answer | undefined): ReadonlyMap<string, Fleet> {
  const found = new Map(answer?.results.map(({ signal, series }) => [signal, series]));
  return new Map(
    panel.signals.filter(hasTotal).flatMap((signal) => {
      const fleet = fleetOf(found.get(signal.id) ?? [], answer?.stepMs ?? 1);
      return fleet.instances > 1 ? [[signal.id, fleet]] : [];
    }),
  );
}

/** Whether total, each and spread differ. */
export function hasFleet(panel: PanelInfo, answer: Answer | undefined): boolean {
  return isLate(panel) ? hasLateFleet(panel, answer) : fleetsOf(panel, answer).size > 0;
}

/**
 * How instances are drawn where nobody has chosen: late values by their total, few instances each, and more by their
 * spread, or by their totals where bands would lie over each other.
 */
export function usualMode(panel: PanelInfo, answer: Answer | undefined): FleetMode {
  if (isLate(panel)) return "total";
  const limits = new Set(panel.signals.filter(({ limit }) => limit).map(({ id }) => id));
  const fleets = [...fleetsOf(panel, answer)].flatMap(([id, fleet]) => (limits.has(id) ? [] : [fleet]));
  if (fleets.every(({ instances }) => instances <= FEW_INSTANCES)) return "each";
  return fleets.length === 1 && fleets[0]?.kinds === 1 ? "spread" : "total";
}

/** What is asked for beside the panel's own signals, to draw it so. */
export function furtherSignals(
  panel: PanelInfo,
  answer: Answer | undefined,
  chosen: FleetMode | undefined,
): readonly string[] {
  const mode = chosen ?? usualMode(panel, answer);
  const fleets = fleetsOf(panel, answer);
  if (isLate(panel) || mode === "each") return [];
  return panel.signals
    .filter(({ id, limit }) => fleets.has(id) && (mode === "total" || !limit))
    .flatMap(({ id }) => (mode === "total" ? [`${id}@total`] : SPREAD.map((part) => `${id}@${part}`)));
}

/** The lines of a panel whose values are prompt; one by one until what was asked for as well is here. */
export function promptSeries(
  panel: PanelInfo,
  answer: Answer,
  chosen: FleetMode | undefined,
  words: FleetWords,
  worst: readonly string[] = [],
): Trimmed {
  const mode = chosen ?? usualMode(panel, answer);
  const found = new Map(answer.results.map((result) => [result.signal, result.series]));
  const own = { ...answer, results: answer.results.filter(({ signal }) => !signal.includes("@")) };
  const fleets = fleetsOf(panel, answer);
  const whole = furtherSignals(panel, answer, mode).every((id) => found.has(id));
  if (mode === "each" || fleets.size === 0 || !whole) return keepLargest(chartSeries(panel, own));
  const drawn = panel.signals.filter(({ limit }) => !limit);
  const most = Math.max(...drawn.map(({ id }) => fleets.get(id)?.instances ?? 0));
  const shared = drawn.filter(({ id }) => (found.get(id)?.length ?? 0) > 0).length > 1;
  const series = panel.signals.flatMap((signal): readonly ChartSeries[] => {
    const fleet = fleets.get(signal.id);
    const members = found.get(signal.id) ?? [];
    if (signal.limit && (mode === "spread" || fleet === undefined)) {
      return drawLimit(signal, members, answer, mode, words, Math.max(most, 1));
    }
    if (fleet === undefined)
      return chartSeries(panel, { ...own, results: own.results.filter((one) => one.signal === signal.id) });
    const part = { signal, members, fleet, place: drawn.indexOf(signal), of: drawn.length, shared, words, worst };
    if (mode === "total") return totals(part, found.get(`${signal.id}@total`) ?? []);
    const [low = [], middle = [], high = []] = SPREAD.map((name) => found.get(`${signal.id}@${name}`));
    return spreads(part, { low, middle, high });
  });
  return keepLargest(series);
}

interface Part {
  readonly signal: SignalInfo;
  readonly members: readonly Series[];
  readonly fleet: Fleet;
  readonly place: number;
  readonly of: number;
  /** Whether other signals of the panel are drawn, too. */
  readonly shared: boolean;
  readonly words: FleetWords;
  /** Instances as findings name them, the worst first. */
  readonly worst: readonly string[];
}

/** A name for all instances: with the signal's where several share the chart, with the kind's where there are several. */
function named({ name }: Series, { shared, fleet }: Part, text: string): string {
  return shared || fleet.kinds > 1 ? `${name} · ${text}` : text;
}

/** Signals that share a chart are told by their colour, kinds of one signal by theirs. */
function colour(one: Series, { signal, fleet, place, of }: Part): Pick<ChartSeries, "wish" | "thing"> {
  const kind = one.name.replace(`${signal.title} · `, "");
  if (fleet.kinds <= 1) return { thing: `all ${signal.id}`, wish: of > 1 ? place : 0 };
  return { thing: `all ${signal.id} ${kind}`, wish: wishOf(of > 1 ? `${place} ${kind}` : kind) };
}

function totals(part: Part, found: readonly Series[]): readonly ChartSeries[] {
  const { signal, fleet, words } = part;
  const text = words.total(signal.total ?? "sum", fleet.instances);
  return found.map((one) => ({
    id: `${signal.id} total ${seriesKey(one)}`,
    ...(signal.limit
      ? { name: `${one.name} · ${text}`, kind: "limit" as const }
      : { name: named(one, part, text), ...colour(one, part) }),
    values: one.values,
  }));
}

function spreads(
  part: Part,
  { low, middle, high }: { low: readonly Series[]; middle: readonly Series[]; high: readonly Series[] },
): readonly ChartSeries[] {
  const { signal, fleet, words } = part;
  const lows = new Map(low.map((one) => [seriesKey(one), one.values]));
  const middles = new Map(middle.map((one) => [seriesKey(one), one.values]));
  const bands = high.map((one): ChartSeries => {
    const key = seriesKey(one);
    return {
      id: `${signal.id} spread ${key}`,
      name: named(one, part, words.spread(fleet.instances)),
      brief: named(one, part, words.all(fleet.instances)),
      values: one.values,
      floor: lows.get(key) ?? [],
      kind: "band",
      ...colour(one, part),
    };
  });
  const lines = high.map((one): ChartSeries => {
    const key = seriesKey(one);
    const name = named(one, part, words.middle);
    return { id: `${signal.id} middle ${key}`, name, values: middles.get(key) ?? [], ...colour(one, part) };
  });
  return [...bands, ...lines, ...singled(part)];
}

/** The worst instance, by findings where they name one of these, and those that stand out. */
function singled({ signal, members, fleet, words, worst: named }: Part): readonly ChartSeries[] {
  if (fleet.kinds > 1) return [];
  const outliers = outliersOf(members.map(({ values }) => ({ values, periodMs: 0 })));
  const found = placeOfWorst(named, members);
  const worst = found < 0 ? worstOf(members, signal.orientation) : found;
  const things = thingsOf(signal, members);
  return members.flatMap((one, place): readonly ChartSeries[] => {
    const isOutlier = outliers.includes(place);
    if (!isOutlier && place !== worst) return [];
    const thing = things[place] ?? one.name;
    const name = isOutlier ? words.outlier(thing) : words.worst(thing);
    return [
      {
        id: `${signal.id} ${seriesKey(one)}`,
        name,
        brief: isOutlier ? `⚠ ${thing}` : name,
        values: one.values,
        ...{ thing, wish: wishOf(thing) },
      },
    ];
  });
}
