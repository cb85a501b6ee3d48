import type { Locale } from "@/lib/time/time";
import { formatValue } from "@/lib/units";
import type { Tone } from "@/ui/state-mark";
import type { Health, TargetRow } from "./target-rows";

export const TONES: Readonly<Record<Health, Tone>> = { up: "ok", down: "bad", unknown: "unknown", gone: "unknown" };

/** A row's numbers as text. */
export function figures(row: TargetRow, locale: Locale) {
  return {
    // Tenths of a second only flicker.
    lag: formatValue(row.lag === null || row.lag < 10 ? rounded(row.lag, 10) : Math.round(row.lag), "seconds", locale),
    duration: formatValue(row.duration, "seconds", locale),
    cpu: formatValue(row.cpu, "ratio", locale),
    samples: formatValue(row.samples, "count", locale),
  };
}

function rounded(value: number | null, per: number): number | null {
  return value === null ? null : Math.round(value * per) / per;
}
