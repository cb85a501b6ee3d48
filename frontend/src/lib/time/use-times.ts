import { useMemo } from "react";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { formatClock, formatDay, formatDuration, formatInstant, SECOND } from "./time";

export interface Times {
  /** `21 Nov 2026, 14:03:05` in the page's zone. */
  readonly instant: (ms: number) => string;
  /** `21 Nov, 14:03`. */
  readonly short: (ms: number) => string;
  /** `3 min 20 s`. */
  readonly span: (ms: number) => string;
}

/** Times as this page writes them: in its zone and language. */
export function useTimes(): Times {
  const { zone } = useView();
  const locale = useLocale();
  return useMemo(
    () => ({
      instant: (ms) => formatInstant(Math.floor(ms / SECOND) * SECOND, zone, locale),
      short: (ms) => `${formatDay(ms, zone, locale)}${locale === "ja" ? " " : ", "}${formatClock(ms, zone, "minute")}`,
      span: (ms) => formatDuration(ms, locale),
    }),
    [zone, locale],
  );
}
