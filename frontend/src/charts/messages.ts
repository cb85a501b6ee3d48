/** The charts' own texts. Everything about the data itself (titles, help, errors) is passed in by the caller. */

import type { Locale } from "@/lib/time/time";

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

const en: ChartMessages = {
  loading: "Loading",
  empty: "No data in this range",
  failed: "This chart could not be loaded",
  partial: "Partial data",
  meanOf: (duration) => `means of ${duration}`,
  staleFor: (duration) => `Last sample ${duration} ago`,
  lateBy: (source, duration) => `${source} is ${duration} behind`,
  noneSince: (source, duration) => `${source}: none yet for ${duration}`,
  noValue: "no value",
  last: "Last",
  min: "Min",
  max: "Max",
  mean: "Mean",
  series: "Series",
  run: "Run",
  note: "Note",
  legend: (title) => `Series of ${title}`,
  legendHint: "Click shows this series alone; Shift or Ctrl with click hides or shows it",
  keys: "Arrow keys move the reading, with Shift by ten; Home and End; Space marks a span and Enter zooms to it; Enter adds a note; Backspace zooms out; Escape clears.",
  chart: "interactive chart",
  moreSeries: (count) => `and ${count} more`,
  summary: (title, unit, count) => `${title}, ${unit}, ${count} series`,
  points: (title, unit, count) => `${title}, ${unit}, ${count} points`,
  xyKeys: "Arrow keys move from point to point; Home and End; Enter opens; Escape clears.",
  cutAxis: "Axis does not begin at 0",
  summarySeries: (name, last, min, max) => `${name}: last ${last}, min ${min}, max ${max}`,
};

const ja: ChartMessages = {
  loading: "読み込み中",
  empty: "この期間のデータはありません",
  failed: "このグラフを読み込めませんでした",
  partial: "一部のデータのみ",
  meanOf: (duration) => `${duration}ごとの平均`,
  staleFor: (duration) => `最後のサンプルは${duration}前`,
  lateBy: (source, duration) => `${source} は${duration}遅れ`,
  noneSince: (source, duration) => `直近${duration}は ${source} にまだ記録なし`,
  noValue: "値なし",
  last: "最新",
  min: "最小",
  max: "最大",
  mean: "平均",
  series: "系列",
  run: "実行",
  note: "注釈",
  legend: (title) => `${title}の系列`,
  legendHint: "クリックでこの系列だけを表示、Shift または Ctrl を押しながらクリックで表示を切り替え",
  keys: "矢印キーで読み取り位置を移動（Shift で10点ずつ）、Home と End で両端へ。スペースで範囲を開始し Enter で拡大、Enter で注釈を追加、Backspace で縮小、Escape で解除。",
  chart: "操作できるグラフ",
  moreSeries: (count) => `ほか${count}件`,
  summary: (title, unit, count) => `${title}、単位 ${unit}、${count}系列`,
  points: (title, unit, count) => `${title}、単位 ${unit}、${count}点`,
  xyKeys: "矢印キーで点を移動、Home と End で両端へ。Enter で開き、Escape で解除。",
  cutAxis: "軸は0から始まりません",
  summarySeries: (name, last, min, max) => `${name}：最新 ${last}、最小 ${min}、最大 ${max}`,
};

export function chartMessages(locale: Locale): ChartMessages {
  return locale === "ja" ? ja : en;
}
