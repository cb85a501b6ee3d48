import { useQuery } from "@tanstack/react-query";
import { headroomQuery } from "@/api/queries";
import { followsNow, resolveRange } from "@/lib/time/range";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";

const REFRESH_MS = 2000;

/** Headroom at the moment that the page shows. */
export function useHeadroom() {
  const view = useView();
  const lang = useLocale();
  const atMs = view.live ? null : (view.pausedAt ?? (followsNow(view.range) ? null : resolveRange(view.range, 0).end));
  const query = useQuery({
    ...headroomQuery(lang, atMs),
    refetchInterval: atMs === null ? REFRESH_MS : false,
    placeholderData: (former) => former,
    retry: false,
  });
  return { ...query, atMs };
}
