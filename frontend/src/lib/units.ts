/** Numbers with their units, as people read them. Base units in (seconds, bytes, ratios), text out. */

import { formatDuration, type Locale } from "@/lib/time/time";

export const UNITS = ["seconds", "bytes", "ratio", "count", "per_second", "bytes_per_second"] as const;
export type Unit = (typeof UNITS)[number];

interface Scale {
  readonly factor: number;
  readonly suffix: string;
}

const DECIMAL: readonly Scale[] = [
  { factor: 1e12, suffix: "T" },
  { factor: 1e9, suffix: "G" },
  { factor: 1e6, suffix: "M" },
  { factor: 1e3, suffix: "k" },
  { factor: 1, suffix: "" },
];
const BINARY: readonly Scale[] = [
  { factor: 2 ** 40, suffix: "TiB" },
  { factor: 2 ** 30, suffix: "GiB" },
  { factor: 2 ** 20, suffix: "MiB" },
  { factor: 2 ** 10, suffix: "KiB" },
  { factor: 1, suffix: "B" },
];
const DURATION: readonly Scale[] = [
  { factor: 86_400, suffix: "d" },
  { factor: 3600, suffix: "h" },
  { factor: 60, suffix: "min" },
  { factor: 1, suffix: "s" },
  { factor: 1e-3, suffix: "ms" },
  { factor: 1e-6, suffix: "µs" },
];

const JAPANESE: Readonly<Record<string, string>> = { d: "日", h: "時間", min: "分", s: "秒" };

/** The scale in which a magnitude is written. Durations stay in seconds up to two minutes. */
function scaleOf(magnitude: number, unit: Unit): Scale {
  const size = Math.abs(magnitude);
  const one: Scale = { factor: 1, suffix: "" };
  switch (unit) {
    case "ratio":
      return { factor: 0.01, suffix: "%" };
    case "bytes":
    case "bytes_per_second":
      return BINARY.find(({ factor }) => size >= factor) ?? { factor: 1, suffix: "B" };
    case "seconds":
      if (size === 0) return { factor: 1, suffix: "s" };
      if (size >= 1 && size < 120) return { factor: 1, suffix: "s" };
      return DURATION.find(({ factor }) => size >= factor) ?? { factor: 1e-6, suffix: "µs" };
    case "count":
    case "per_second":
      return size < 10_000 ? one : (DECIMAL.find(({ factor }) => size >= factor) ?? one);
  }
}

function suffixOf(scale: Scale, unit: Unit, locale: Locale): string {
  const rate = unit === "per_second" || unit === "bytes_per_second" ? "/s" : "";
  const name = locale === "ja" && unit === "seconds" ? (JAPANESE[scale.suffix] ?? scale.suffix) : scale.suffix;
  const space = name !== "" && name !== "%" && unit !== "count" && unit !== "per_second" ? " " : "";
  return `${space}${name}${rate}`;
}

/** Digits with a thin grouping of thousands; the same in both languages. */
function digits(value: number, decimals: number): string {
  const fixed = value.toFixed(decimals);
  const [whole = "0", fraction] = (fixed === "-0" ? "0" : fixed).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** Decimals that keep about three significant digits, none for whole numbers. */
function decimalsFor(scaled: number): number {
  const size = Math.abs(scaled);
  if (Number.isInteger(scaled) || size >= 100) return 0;
  if (size >= 10) return 1;
  if (size >= 1) return 2;
  return size === 0 ? 0 : Math.min(6, 2 - Math.floor(Math.log10(size)));
}

/** One value for a tooltip, a legend or a tile: `1,204/s`, `12.4 ms`, `3.1 GiB`, `85.2%`; `–` for none. */
export function formatValue(value: number | null | undefined, unit: Unit, locale: Locale = "en"): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (unit === "seconds" && Math.abs(value) >= 120) {
    return `${value < 0 ? "-" : ""}${formatDuration(Math.abs(value) * 1000, locale)}`;
  }
  const scale = scaleOf(value, unit);
  const scaled = value / scale.factor;
  const rounded = Number(scaled.toPrecision(12));
  // What is not all of it is never rounded up to 100 %.
  const part = unit === "ratio" && rounded >= 99.95 && rounded < 100;
  return `${part ? digits(Math.min(rounded, 99.99), 2) : digits(rounded, decimalsFor(rounded))}${suffixOf(scale, unit, locale)}`;
}

/**
 * Writer of an axis' tick labels: all in the scale of the axis' end, with as many decimals as its step asks.
 * `stepValue` is the distance of two ticks and `maxValue` the greatest magnitude, both in base units.
 */
export function axisFormatter(
  unit: Unit,
  stepValue: number,
  maxValue: number,
  locale: Locale = "en",
): (value: number) => string {
  const scale = scaleOf(maxValue, unit);
  const step = stepValue / scale.factor;
  // Ticks such as 0.5, 1, 1.5 min need the decimals of their step, not of their own value.
  let decimals = 0;
  while (decimals < 6 && Math.abs(step * 10 ** decimals - Math.round(step * 10 ** decimals)) > 1e-6) decimals += 1;
  const suffix = suffixOf(scale, unit, locale);
  return (value) => (value === 0 ? "0" : `${digits(value / scale.factor, decimals)}${suffix}`);
}

/** The unit for a chart's title or a table's head: `/s`, `%`, `bytes`. */
export function unitLabel(unit: Unit, locale: Locale = "en"): string {
  const names: Readonly<Record<Unit, readonly [string, string]>> = {
    seconds: ["seconds", "秒"],
    bytes: ["bytes", "バイト"],
    ratio: ["%", "%"],
    count: ["count", "個数"],
    per_second: ["per second", "毎秒"],
    bytes_per_second: ["bytes per second", "バイト毎秒"],
  };
  return names[unit][locale === "ja" ? 1 : 0];
}
