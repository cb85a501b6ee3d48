import { useEffect } from "react";
import { useLocation } from "react-router";
import { useView } from "@/lib/view-context";
import type { PanelGroup } from "@/panels/panel-catalogue";

/** `#panel-<id>` in the address unfolds the panel's group, scrolls to it and focuses it. */
export function usePanelAnchor(groups: readonly PanelGroup[]): void {
  const { hash, key } = useLocation();
  const { folded, change } = useView();
  const id = hash.startsWith("#panel-") ? decodeURIComponent(hash.slice(7)) : null;
  const home = groups.find(({ panels }) => panels.some((panel) => panel.id === id))?.group.id;
  const hidden = home !== undefined && folded.includes(home);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` makes choosing the same panel again scroll again
  useEffect(() => {
    if (id === null || home === undefined) return;
    if (hidden) {
      change({ folded: folded.filter((one) => one !== home) });
      return;
    }
    const element = document.getElementById(`panel-${id}`) ?? document.getElementById(`group-${home}`);
    element?.scrollIntoView({ block: "start" });
    element?.focus({ preventScroll: true });
  }, [id, home, hidden, key]);
}
