import { useQuery } from "@tanstack/react-query";
import { headroomQuery } from "@/api/queries";
import { serverNow } from "@/api/server-clock";
import { followsNow, resolveRange } from "@/lib/time/range";
import { snapGrain } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { useUnderWay } from "@/panels/run/use-under-way";

const REFRESH_MS = 2000;

/**
 * Headroom at the moment that the page shows, and since when limits were reached: since the start of the run that
 * began last and is under way, else since the range's.
 */
export function useHeadroom() {
  const view = useView();
  const lang = useLocale();
  const atMs = view.live ? null : (view.pausedAt ?? (followsNow(view.range) ? null : resolveRange(view.range, 0).end));
  const [run] = useUnderWay().runs;
  const { start, end } = resolveRange(view.range, atMs ?? serverNow());
  // In whole steps, so that a range that moves each second is one question for a while.
  const grain = snapGrain(end - start);
  const begun = Math.floor(start / grain) * grain;
  const sinceMs = atMs === null && run !== undefined && !run.silent ? run.started_ms : begun;
  const query = useQuery({
    ...headroomQuery(lang, atMs, sinceMs),
    refetchInterval: atMs === null ? REFRESH_MS : false,
    placeholderData: (former) => former,
    retry: false,
  });
  return { ...query, atMs };
}
