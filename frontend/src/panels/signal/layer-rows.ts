/** A stack as rows: what each layer of each instance is on average over the range. Pure. */
import type { Answer, Series } from "@/lib/series/series";
import { timeAt } from "@/lib/series/series";
import { drawnResults, instanceKey } from "@/panels/fleet-series";
import type { PanelInfo } from "@/panels/panel-catalogue";

/** Beyond these the rest is one row. */
export const MOST_ROWS = 10;

export interface LayerRow {
  readonly key: string;
  /** What the layer is called; null for all that is not listed. */
  readonly name: string | null;
  /** Whose it is, where there are several instances. */
  readonly instance: string | null;
  readonly mean: number;
  /** Of all instances' load. */
  readonly share: number;
}

export interface LayerRows {
  readonly rows: readonly LayerRow[];
  /** The beginning of the first and the end of the last value; null without any. */
  readonly window: { readonly fromMs: number; readonly toMs: number } | null;
  readonly instances: number;
}

/**
 * The greatest layers first. A layer without a value while its instance has delivered others is nothing then, so a mean
 * is over all that the instance has delivered; the rows add up to the mean of the whole.
 */
export function layerRows(panel: PanelInfo, answer: Answer): LayerRows {
  const [signal] = panel.signals;
  const shown = drawnResults(panel, answer).find((result) => result.signal === signal?.id);
  if (signal === undefined || shown === undefined || shown.series.length === 0) return NOTHING;
  const wholes = new Map<string, Series[]>();
  for (const one of shown.series) {
    const key = instanceKey(one.labels, signal.layers);
    wholes.set(key, [...(wholes.get(key) ?? []), one]);
  }
  const several = wholes.size > 1;
  const all = [...wholes].flatMap(([instance, parts]) => {
    const steps = stepsOf(parts).length;
    return parts.map((part) => ({
      key: JSON.stringify([instance, ...signal.layers.map((label) => part.labels[label] ?? "")]),
      name: signal.layers.map((label) => part.labels[label] ?? "").findLast((text) => text !== "") ?? null,
      instance: several ? nameOf(signal.legend, part, signal.layers) : null,
      mean: part.values.reduce<number>((sum, value) => sum + (value ?? 0), 0) / steps,
    }));
  });
  const whole = all.reduce((sum, { mean }) => sum + mean, 0);
  const listed = all
    .filter(({ name }) => name !== null)
    .toSorted((a, b) => b.mean - a.mean || a.key.localeCompare(b.key))
    .slice(0, MOST_ROWS);
  const rest = whole - listed.reduce((sum, { mean }) => sum + mean, 0);
  const share = (mean: number) => (whole > 0 ? mean / whole : 0);
  const rows: LayerRow[] = listed.map((row) => ({ ...row, share: share(row.mean) }));
  // What is left by rounding is no statement.
  if (share(rest) > 0.0005) rows.push({ key: "rest", name: null, instance: null, mean: rest, share: share(rest) });
  return { rows, window: windowOf(panel, answer, shown.series), instances: wholes.size };
}

/** The newest connections from host to host, the hosts with the most first; null where there are none. */
export function hostMatrix(panel: PanelInfo, answer: Answer) {
  const found = drawnResults(panel, answer).flatMap(({ series }) =>
    series.flatMap(({ labels, values }) => {
      const count = values.findLast((value) => value !== null);
      return count == null ? [] : [{ from: labels.instance ?? "", to: labels.to ?? "", count }];
    }),
  );
  const sumOf = (end: "from" | "to", host: string) =>
    found.reduce((sum, one) => sum + (one[end] === host ? one.count : 0), 0);
  const hosts = (end: "from" | "to") =>
    [...new Set(found.map((one) => one[end]))].toSorted((a, b) => sumOf(end, b) - sumOf(end, a) || a.localeCompare(b));
  const [from, to] = [hosts("from"), hosts("to").slice(0, MOST_ROWS)];
  const whole = found.reduce((sum, { count }) => sum + count, 0);
  const between = (a: string, b: string) => found.filter((one) => one.from === a && one.to === b);
  const cells = from.map((a) =>
    to.map((b) => between(a, b).reduce<number | null>((sum, one) => (sum ?? 0) + one.count, null)),
  );
  return { from, to, cells, shares: from.map((host) => (whole > 0 ? sumOf("from", host) / whole : 0)) };
}

const NOTHING: LayerRows = { rows: [], window: null, instances: 0 };

/** Places on the grid at which any of the series has a value. */
function stepsOf(series: readonly Series[]): readonly number[] {
  const count = Math.max(0, ...series.map(({ values }) => values.length));
  return Array.from({ length: count }, (_, index) => index).filter((index) =>
    series.some(({ values }) => values[index] != null),
  );
}

function windowOf({ signals }: PanelInfo, answer: Answer, series: readonly Series[]): LayerRows["window"] {
  const steps = stepsOf(series);
  const [first, last] = [steps[0], steps.at(-1)];
  if (first === undefined || last === undefined) return null;
  // A value covers the period before its time.
  const periodMs = Math.max(answer.stepMs, signals[0]?.delivery?.period_ms ?? 0);
  return { fromMs: timeAt(answer, first) - periodMs, toMs: timeAt(answer, last) };
}

function nameOf(legend: string, { labels }: Series, layers: readonly string[]): string {
  return legend
    .replace(/\{\{\s*(\w+)\s*\}\}/g, (_, label: string) => (layers.includes(label) ? "" : (labels[label] ?? "")))
    .trim();
}
