import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { FleetMode } from "@/lib/series/fleet";
import type { PanelSignals } from "@/lib/series/live-plan";
import type { Answer } from "@/lib/series/series";
import { useView } from "@/lib/view/context";
import { useFeed } from "@/panels/feed/feed-context";
import { furtherSignals } from "@/panels/fleet-together";
import type { PanelGroup, PanelInfo } from "@/panels/panel-catalogue";

/** Groups this far outside the window are fed already. */
const MARGIN = "300px";

export type Watch = (group: string, element: Element) => () => void;

/** Tells the feed which panels are needed: those of groups on the screen, those shown alone, and one look at each. */
export function useWanted(groups: readonly PanelGroup[], folded: readonly string[], alone: string | null) {
  const feed = useFeed();
  const { fleets } = useView();
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
    const ask = (panel: PanelInfo) => signalsOf(panel, fleets[panel.signals[0]?.group ?? ""]);
    feed.setWanted(shown.map(ask), others.map(ask));
  }, [feed, groups, seen, folded, alone, fleets]);
  return { watch };
}

function signalsOf(panel: PanelInfo, fleet: FleetMode | undefined): PanelSignals {
  const { id, signals } = panel;
  const late = signals.every(({ delivery }) => delivery != null);
  const periodMs = Math.min(...signals.map(({ delivery }) => delivery?.period_ms ?? Number.POSITIVE_INFINITY));
  const more = (held: Answer | undefined) => furtherSignals(panel, held, fleet);
  return { panel: id, signals: signals.map((signal) => signal.id), more, ...(late && { late, periodMs }) };
}
