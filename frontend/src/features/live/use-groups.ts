import { useMemo, useState } from "react";
import { useView } from "@/lib/view/context";
import { useLiveFindings } from "@/panels/findings/use-live-findings";
import { useHeadroom } from "@/panels/headroom/use-headroom";
import { type PanelGroup, PINNED_GROUP } from "@/panels/panel-catalogue";
import { stirredGroups } from "./stirred-groups";

/** The charts that every load test is read by. */
export const FIRST_GROUP = "mission";

/** Whether it is open unless the user folds it, and shown without data, too. */
export function standsOpen(group: string): boolean {
  return group === FIRST_GROUP || group === PINNED_GROUP;
}

/**
 * Which groups stand folded. What the user folded or opened, or said how to draw, stays so; of the others the first ones are open, and those in
 * which a limit is near or that draw what a finding stands on. What has opened by itself does not close by itself, and
 * none opens under the pointer or while one of them has the focus.
 */
export function useGroups(groups: readonly PanelGroup[]) {
  const { folded: shut, opened, fleets, change } = useView();
  const limits = useHeadroom().data?.resources;
  const findings = useLiveFindings().data?.findings;
  const stirred = useMemo(() => stirredGroups(groups, limits ?? [], findings ?? []), [groups, limits, findings]);
  const [shown, setShown] = useState<ReadonlySet<string>>(new Set());
  const [pointed, setPointed] = useState(false);
  const [focused, setFocused] = useState(false);
  if (!pointed && !focused && stirred.some((id) => !shown.has(id))) setShown(new Set([...shown, ...stirred]));
  const ids = groups.map(({ group }) => group.id);
  const key = ids
    .filter(
      (id) =>
        shut.includes(id) || (!standsOpen(id) && !opened.includes(id) && fleets[id] === undefined && !shown.has(id)),
    )
    .join();
  const folded = useMemo(() => key.split(",").filter(Boolean), [key]);
  return {
    folded,
    fold(some: readonly string[], on: boolean) {
      const others = (held: readonly string[]) => held.filter((id) => !some.includes(id));
      // An address says no more than it must: the first groups are open without a word.
      const named = some.filter((id) => !standsOpen(id));
      change({
        folded: on ? [...others(shut), ...some] : others(shut),
        opened: on ? others(opened) : [...others(opened), ...named],
      });
    },
    hold: {
      onPointerEnter: () => setPointed(true),
      onPointerLeave: () => setPointed(false),
      onFocus: () => setFocused(true),
      onBlur: (event: React.FocusEvent<HTMLElement>) => {
        if (!event.currentTarget.contains(event.relatedTarget)) setFocused(false);
      },
    },
  };
}
