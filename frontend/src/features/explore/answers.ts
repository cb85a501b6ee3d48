/** From answers of PromQL to what a chart draws. Pure. */
import type { Labels, Ranged, Sample } from "@/api/explore/queries";
import type { ChartSeries } from "@/charts/chart-types";
import type { Unit } from "@/lib/units";

/** As PromQL writes it: `up{job="a"}`; empty for a series without labels. */
export function seriesText({ __name__: name = "", ...labels }: Labels): string {
  const pairs = pairsOf(labels);
  return pairs.length === 0 ? name : `${name}{${pairs.join(", ")}}`;
}

const pairsOf = (labels: Labels) =>
  Object.keys(labels)
    .sort()
    .map((label) => `${label}=${JSON.stringify(labels[label])}`);

/** How a panel names these series: by the labels that tell them apart, or by all of a single one. */
export function legendOf(found: readonly Labels[]): string {
  const names = [...new Set(found.flatMap((labels) => Object.keys(labels)))].filter((name) => name !== "__name__");
  const differs = (name: string) => new Set(found.map((labels) => labels[name])).size > 1;
  const named = found.length > 1 ? names.filter(differs) : names;
  return named
    .sort()
    .map((name) => `{{${name}}}`)
    .join(" ");
}

/** Lines on the answer's grid; `name` is what a line without labels is called. */
export function linesOf(answer: Ranged, name: string): readonly ChartSeries[] {
  return answer.result.map(({ metric, values }) => {
    const { __name__ = "", ...labels } = metric;
    return {
      id: seriesText(metric),
      name: [...(__name__ === "" ? [] : [__name__]), ...pairsOf(labels)].join(" · ") || name,
      values: valuesOf(answer, values),
    };
  });
}

function valuesOf({ startMs, stepMs, count }: Ranged, samples: readonly Sample[]): (number | null)[] {
  const values = Array<number | null>(count).fill(null);
  for (const [seconds, text] of samples) {
    const value = Number(text.replace("Inf", "Infinity"));
    if (Number.isFinite(value)) values[Math.round((seconds * 1000 - startMs) / stepMs)] = value;
  }
  return values;
}

/** What the names of the metrics and the functions around them say of the unit; plain numbers where they do not agree. */
export function unitOf(expression: string): Unit {
  const ends = [...expression.matchAll(/_(seconds|bytes|ratio)(?:_(?:total|sum|count|bucket))?\b/g)];
  const units = new Set(ends.map(([, unit]) => unit as Unit));
  const unit = (units.size === 1 ? [...units][0] : undefined) ?? "count";
  if (/\bcount(_values)?\b/.test(expression)) return "count";
  if (/\bhistogram_quantile\b|_sum\b.*\/.*_count\b/s.test(expression)) return unit;
  if (!/\bi?rate\b/.test(expression)) return expression.includes("/") ? "count" : unit;
  if (expression.includes("/") || unit === "seconds") return "count";
  return unit === "bytes" ? "bytes_per_second" : "per_second";
}
