/** Points of a resource's use over the rate, and what is told of a forecast. Pure. */
import type { Capacity, CapacityResource } from "@/api/compare/types";
import type { XyPoint, XyTick } from "@/charts/xy/xy-types";
import { formatMeasure } from "@/lib/run-text";
import { valueTicks } from "@/lib/ticks";
import type { Locale } from "@/lib/time/time";

export const RATE = "per_second";

export interface CapacityText {
  readonly step: (rate: string, use: string) => string;
  readonly stepOf: (run: string, seconds: string) => string;
  readonly full: (rate: string, low: string, high: string) => string;
}

/** The steps of a resource, and where its limit is reached. */
export function capacityPoints(
  resource: CapacityResource,
  names: ReadonlyMap<string, string>,
  text: CapacityText,
  locale: Locale,
): readonly XyPoint[] {
  const rate = (value: number) => formatMeasure(value, RATE, locale);
  const steps = resource.points.map((point, place) => ({
    id: `${point.run} ${place}`,
    x: point.rate,
    y: point.use,
    label: text.step(rate(point.rate), formatMeasure(point.use, resource.unit, locale)),
    lines: [text.stepOf(names.get(point.run) ?? point.run, String(Math.round(point.seconds)))],
  }));
  const { law } = resource;
  if (law === null) return steps;
  const full = { id: "full", x: law.rate, y: resource.limit, look: "hollow" as const };
  return [...steps, { ...full, label: text.full(rate(law.rate), rate(law.low), rate(law.high)) }];
}

/** Labels of the rates from the lowest step to where the limit is reached. */
export function capacityTicks(points: readonly XyPoint[], locale: Locale): readonly XyTick[] {
  const rates = points.map(({ x }) => x);
  const low = Math.min(...rates);
  const high = Math.max(...rates);
  if (!(high > low)) return [];
  const { values } = valueTicks({ min: low, max: high }, 8, RATE);
  return values.map((value) => ({ value, label: formatMeasure(value, RATE, locale) }));
}

/** With a number, the first to be full first, and without one. */
export function splitResources(capacity: Capacity) {
  const { resources } = capacity.now;
  return {
    known: resources.flatMap((resource) => (resource.law === null ? [] : [{ resource, law: resource.law }])),
    refused: resources.filter(({ law }) => law === null),
  };
}

/** How many commits the runs are of; those that name none are of one. */
export function countCommits(capacity: Capacity): number {
  return new Set(capacity.now.runs.map(({ commit }) => commit)).size;
}
