import { formatClock, formatDay, type Locale, type TimeZone } from "@/lib/time/time";

/** A time of today as a clock shows it, with the day before it on other days. */
export function shortInstant(ms: number, now: number, zone: TimeZone, locale: Locale): string {
  const day = formatDay(ms, zone, locale);
  const clock = formatClock(ms, zone, "second");
  return day === formatDay(now, zone, locale) ? clock : `${day} ${clock}`;
}
