import { useCallback } from "react";
import { useTranslation } from "react-i18next";
import type { Recurrence } from "@/api/notify/types";
import { useLocale } from "@/lib/use-locale";
import { EVERY_DAY } from "../model/silence";

/** Short names of the weekdays from Monday. */
export function useWeekdays(): readonly string[] {
  const locale = useLocale();
  const format = new Intl.DateTimeFormat(locale, { weekday: "short", timeZone: "UTC" });
  // 1 January 2024 was a Monday.
  return EVERY_DAY.map((day) => format.format(Date.UTC(2024, 0, 1 + day)));
}

/** "Mon, Tue, 22:00 to 06:00 on the next day, Asia/Tokyo". */
export function useRecurrenceWords(): (often: Recurrence) => string {
  const { t } = useTranslation();
  const names = useWeekdays();
  return useCallback(
    (often) => {
      const days = often.weekdays ?? EVERY_DAY;
      const over = often.to_time <= often.from_time;
      return t(over ? "notify.often.overnight" : "notify.often.words", {
        days:
          days.length === EVERY_DAY.length ? t("notify.often.daily") : days.map((day) => names[day] ?? "").join(", "),
        from: often.from_time,
        to: often.to_time,
        zone: often.time_zone ?? "UTC",
      });
    },
    [t, names],
  );
}
