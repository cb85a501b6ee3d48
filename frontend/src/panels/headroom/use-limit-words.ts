import { useTranslation } from "react-i18next";
import { formatClock, formatDuration, formatInstant, wholeMinutes } from "@/lib/time/time";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import type { Limit, LimitRow } from "./limit-rows";

/** What is said of a limit beside its figures. */
export function useLimitWords() {
  const { t } = useTranslation();
  const locale = useLocale();
  const { zone } = useView();
  return {
    instant: (timeMs: number) => formatInstant(timeMs, zone, locale),
    used: ({ used, limit, unit }: Limit) =>
      t("headroom.used", { used: formatValue(used, unit, locale), limit: formatValue(limit, unit, locale) }),
    outlook: ({ late, state, exhaustion_seconds }: Limit, row?: LimitRow) => {
      if (row !== undefined && row.firstMs !== null)
        return t("headroom.first", { time: formatClock(row.firstMs, zone, "second") });
      if (late) return null;
      if (state === "full") return row?.calm === true ? t("headroom.calm") : null;
      if (state === "exhausted") return t("headroom.exhaustedNow");
      if (exhaustion_seconds === null) return t("headroom.steady");
      return t("headroom.exhaustedIn", { time: formatDuration(exhaustion_seconds * 1000, locale) });
    },
    asOf: ({ as_of_ms, late, source }: Limit, nowMs: number) => {
      if (as_of_ms == null) return null;
      if (late) return t("headroom.lateFor", { age: formatDuration(nowMs - as_of_ms, locale) });
      return t("fleet.asOf", { source: source ?? "", age: formatDuration(wholeMinutes(nowMs - as_of_ms), locale) });
    },
    fleet: ({ entries, full, worst }: LimitRow) => {
      const count = entries.length;
      if (count === 1) return worst.name;
      return full > 0
        ? t("headroom.full", { full, count, name: worst.name })
        : t("headroom.worst", { count, name: worst.name });
    },
  };
}
