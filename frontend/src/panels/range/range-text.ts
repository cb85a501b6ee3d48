import type { TFunction } from "i18next";
import {
  followsNow,
  RELATIVE_SPANS,
  type RelativeSpan,
  relativeSpanOf,
  resolveRange,
  type TimeRange,
} from "@/lib/time/range";
import { formatClock, formatDay, type Locale, type TimeZone } from "@/lib/time/time";

/** The range in words: "Last 5 minutes", "Since 14:03:05", "21 Nov 14:03:05 – 14:08:00". */
export function rangeText(range: TimeRange, now: number, t: TFunction, zone: TimeZone, locale: Locale): string {
  const span = relativeSpanOf(range);
  if (span !== null) return t("range.last", { span: spanText(span, t) });
  const { start, end } = resolveRange(range, now);
  const today = formatDay(now, zone, locale);
  const stamp = (ms: number, beside: string) => {
    const day = formatDay(ms, zone, locale);
    return day === beside ? formatClock(ms, zone, "second") : `${day} ${formatClock(ms, zone, "second")}`;
  };
  if (followsNow(range)) return t("range.since", { start: stamp(start, today) });
  const startDay = formatDay(start, zone, locale);
  return t("range.between", { start: stamp(start, today), end: stamp(end, startDay) });
}

export function spanText(span: string, t: TFunction): string {
  return isOffered(span) ? t(`range.span_${span}`) : span;
}

function isOffered(span: string): span is RelativeSpan {
  return (RELATIVE_SPANS as readonly string[]).includes(span);
}
