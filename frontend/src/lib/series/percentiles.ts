/** Percentiles that a page shows besides those that every run keeps, and how the address names them. Pure. */

export type Percentile = `p${number}`;

/** What is shown without being asked for. */
export const USUAL_PERCENTILES: readonly string[] = ["p50", "p90", "p95", "p99"];
export const SUGGESTED_PERCENTILES: readonly Percentile[] = ["p70", "p75", "p80", "p99.9"];
/** The server reads so many at once. */
export const MOST_PERCENTILES = 8;

const FORM = /^[pP]?(\d{1,2}(?:\.\d{1,3})?)$/;

/** `p99.9` of `99.90`; null of what names none between p0.001 and p99.999. */
export function parsePercentile(text: string): Percentile | null {
  const match = FORM.exec(text.trim());
  const percent = Number(match?.[1] ?? 0);
  return percent > 0 ? `p${percent}` : null;
}

/** Those that are added to the usual ones, by their ranks. */
export function addedPercentiles(texts: readonly string[]): readonly Percentile[] {
  const named = texts.map(parsePercentile).filter((name) => name !== null);
  return [...new Set(named)]
    .filter((name) => !USUAL_PERCENTILES.includes(name))
    .slice(0, MOST_PERCENTILES)
    .sort(byRank);
}

/** Of names that are percentiles. */
export function byRank(left: string, right: string): number {
  return Number(left.slice(1)) - Number(right.slice(1));
}

export const decodePercentiles = (params: URLSearchParams) => addedPercentiles(params.getAll("percentile"));

export function encodePercentiles(names: readonly string[], held: URLSearchParams): URLSearchParams {
  const params = new URLSearchParams(held);
  params.delete("percentile");
  for (const name of addedPercentiles(names)) params.append("percentile", name);
  return params;
}
