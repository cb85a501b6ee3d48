/** The charts' own texts, in the page's language; what is about the data itself (titles, help, errors) comes with it. */

export interface ChartMessages {
  readonly loading: string;
  readonly empty: string;
  readonly failed: string;
  readonly partial: string;
  readonly meanOf: (duration: string) => string;
  readonly staleFor: (duration: string) => string;
  readonly lateBy: (source: string, duration: string) => string;
  readonly noneSince: (source: string, duration: string) => string;
  readonly noValue: string;
  readonly last: string;
  readonly min: string;
  readonly max: string;
  readonly mean: string;
  readonly series: string;
  readonly run: string;
  readonly note: string;
  readonly legend: (title: string) => string;
  readonly legendHint: string;
  readonly keys: string;
  readonly chart: string;
  readonly moreSeries: (count: number) => string;
  readonly summary: (title: string, unit: string, count: number) => string;
  readonly points: (title: string, unit: string, count: number) => string;
  readonly xyKeys: string;
  readonly cutAxis: string;
  readonly summarySeries: (name: string, last: string, min: string, max: string) => string;
}
