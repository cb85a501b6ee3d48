import { useEffect, useState } from "react";
import { useLocation } from "react-router";
import type { PanelGroup } from "@/panels/panel-catalogue";

/** `#panel-<id>` in the address unfolds the panel's group, scrolls to it and focuses it; the answer is that group. */
export function usePanelAnchor(
  groups: readonly PanelGroup[],
  folded: readonly string[],
  fold: (ids: readonly string[], on: boolean) => void,
): string | undefined {
  const { hash, key } = useLocation();
  const id = hash.startsWith("#panel-") ? decodeURIComponent(hash.slice(7)) : null;
  // Kept beyond the address: unfolding a group writes another one, without the panel.
  const [wanted, want] = useState({ id, key });
  if (id !== null && (id !== wanted.id || key !== wanted.key)) want({ id, key });
  const home = groups.find(({ panels }) => panels.some((panel) => panel.id === wanted.id))?.group.id;
  const hidden = home !== undefined && folded.includes(home);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a group that is folded later does not open again
  useEffect(() => {
    if (home === undefined) return undefined;
    if (hidden) fold([home], false);
    return holdInView(`panel-${wanted.id}`, `group-${home}`);
  }, [wanted, home]);
  return home;
}

/** Without a change of the page's height for so long: groups above shrink as their first answers come. */
const SETTLE_MS = 5000;
const INPUTS = ["wheel", "pointerdown", "keydown", "touchstart"] as const;

/**
 * Scrolls to an element, and again when the page's height changes, until the user takes over or the page has settled
 * around it: on a busy machine it may be long before it is there.
 */
function holdInView(wanted: string, otherwise: string): () => void {
  const ends = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const show = () => {
    const element = document.getElementById(wanted);
    (element ?? document.getElementById(otherwise))?.scrollIntoView({ block: "start" });
    if (element === null) return;
    if (timer === undefined) element.focus({ preventScroll: true });
    clearTimeout(timer);
    timer = setTimeout(() => ends.abort(), SETTLE_MS);
  };
  const observer = new ResizeObserver(show);
  ends.signal.addEventListener("abort", () => {
    observer.disconnect();
    clearTimeout(timer);
  });
  for (const input of INPUTS)
    window.addEventListener(input, () => ends.abort(), { signal: ends.signal, passive: true });
  observer.observe(document.body);
  return () => ends.abort();
}
