import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { Text } from "@/api/findings/types";
import { formatElapsed } from "@/lib/run-text";
import { formatClock, inZone } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";

/** Picks the page's language, and puts clock times into its zone. */
export function useWords(): (text: Text) => string {
  const locale = useLocale();
  const { zone } = useView();
  return (text) => inZone(text[locale], zone);
}

export interface FindingTimes {
  /** On the run's clock, and the wall's where both are known. */
  readonly at: (ms: number) => string;
  /** As short as it goes. */
  readonly brief: (ms: number) => string;
}

/** Times of findings: of a run by its own clock and the wall's, of the present by the wall's alone. */
export function useFindingTimes(originMs: number | null): FindingTimes {
  const { t } = useTranslation();
  const { zone } = useView();
  return useMemo(() => {
    const wall = (ms: number) => formatClock(ms, zone, "second");
    if (originMs === null) return { at: wall, brief: wall };
    const brief = (ms: number) => formatElapsed(Math.max(0, Math.round((ms - originMs) / 1000)));
    return { at: (ms) => t("findings.at", { elapsed: brief(ms), time: wall(ms) }), brief };
  }, [originMs, zone, t]);
}
