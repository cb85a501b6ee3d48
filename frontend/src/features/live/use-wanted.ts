import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { PanelSignals } from "@/lib/series/live-plan";
import { useFeed } from "@/panels/feed/feed-context";
import type { PanelGroup, PanelInfo } from "@/panels/panel-catalogue";

/** Groups this far outside the window are fed already. */
const MARGIN = "300px";

export type Watch = (group: string, element: Element) => () => void;

/** Tells the feed which panels are needed: those of groups on the screen, those shown alone, and one look at each. */
export function useWanted(groups: readonly PanelGroup[], folded: readonly string[], alone: string | null) {
  const feed = useFeed();
  const [seen, setSeen] = useState<ReadonlySet<string>>(new Set());
  const names = useRef(new Map<Element, string>());
  const observer = useMemo(() => {
    if (typeof IntersectionObserver === "undefined") return null;
    return new IntersectionObserver(
      (entries) => {
        setSeen((before) => {
          const next = new Set(before);
          for (const entry of entries) {
            const name = names.current.get(entry.target);
            if (name === undefined) continue;
            if (entry.isIntersecting) next.add(name);
            else next.delete(name);
          }
          return next;
        });
      },
      { rootMargin: MARGIN },
    );
  }, []);
  useEffect(() => () => observer?.disconnect(), [observer]);
  const watch = useCallback<Watch>(
    (group, element) => {
      names.current.set(element, group);
      observer?.observe(element);
      return () => {
        observer?.unobserve(element);
        names.current.delete(element);
      };
    },
    [observer],
  );
  useEffect(() => {
    const open = groups.filter(({ group }) => !folded.includes(group.id)).flatMap(({ panels }) => panels);
    const inSight = new Set(groups.filter(({ group }) => seen.has(group.id)).flatMap(({ panels }) => panels));
    const single = groups.flatMap(({ panels }) => panels).filter(({ id }) => id === alone);
    const shown = [...new Set([...open.filter((panel) => inSight.has(panel)), ...single])];
    // Before the first look at the screen nothing is known to be on it.
    if (seen.size === 0 && single.length === 0) return;
    // Whether there is anything in a group that is not shown without data is asked even where it is folded.
    const optional = groups.filter(({ group }) => group.optional === true).flatMap(({ panels }) => panels);
    const others = [...new Set([...open, ...optional])].filter((panel) => !shown.includes(panel));
    feed.setWanted(shown.map(signalsOf), others.map(signalsOf));
  }, [feed, groups, seen, folded, alone]);
  return { watch };
}

function signalsOf({ id, signals }: PanelInfo): PanelSignals {
  const late = signals.every(({ delivery }) => delivery != null);
  const periodMs = Math.min(...signals.map(({ delivery }) => delivery?.period_ms ?? Number.POSITIVE_INFINITY));
  return { panel: id, signals: signals.map((signal) => signal.id), ...(late && { late, periodMs }) };
}
