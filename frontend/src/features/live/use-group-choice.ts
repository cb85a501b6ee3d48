import { useMemo, useState } from "react";
import { readPreference, writePreference } from "@/lib/view/preferences";
import type { PanelGroup } from "@/panels/panel-catalogue";

const PREFERENCE = "live-groups";

/** Which groups a user has hidden, and in which order all stand. */
export interface GroupChoice {
  /** Ids; without any, the packs' order. */
  readonly order: readonly string[];
  readonly hidden: readonly string[];
}

export const PACKS_CHOICE: GroupChoice = { order: [], hidden: [] };

/** What another version of the page wrote, or a hand, is read as far as it can be. */
export function readGroupChoice(text = readPreference(PREFERENCE)): GroupChoice {
  const ids = (held: unknown) => (Array.isArray(held) ? held.filter((one) => typeof one === "string") : []);
  try {
    const held: { readonly order?: unknown; readonly hidden?: unknown } | null = JSON.parse(text ?? "null");
    return { order: ids(held?.order), hidden: ids(held?.hidden) };
  } catch {
    return PACKS_CHOICE;
  }
}

/** The user's order; a group that came later stands behind the one that it follows in the packs (`ids`). */
export function orderOf(ids: readonly string[], chosen: readonly string[]): readonly string[] {
  const order = [...chosen];
  for (const [place, id] of ids.entries()) {
    if (!order.includes(id)) order.splice(order.indexOf(ids[place - 1] ?? "") + 1, 0, id);
  }
  return order;
}

/** With `id` on the other side of its neighbour among the `listed`: groups without data stand between them, unseen. */
export function moved(order: readonly string[], listed: readonly string[], id: string, by: 1 | -1): readonly string[] {
  const neighbour = listed[listed.indexOf(id) + by];
  if (neighbour === undefined) return order;
  const others = order.filter((one) => one !== id);
  return others.toSpliced(others.indexOf(neighbour) + (by > 0 ? 1 : 0), 0, id);
}

export interface ChosenGroups {
  readonly choice: GroupChoice;
  readonly choose: (next: GroupChoice) => void;
  /** Hidden ones too, in the user's order. */
  readonly groups: readonly PanelGroup[];
  /** Their ids, and those of groups whose pack is away. */
  readonly order: readonly string[];
}

export function useGroupChoice(packed: readonly PanelGroup[]): ChosenGroups {
  const [choice, setChoice] = useState(() => readGroupChoice());
  const choose = (next: GroupChoice) => {
    setChoice(next);
    writePreference(PREFERENCE, JSON.stringify(next));
  };
  const arranged = useMemo(() => {
    const ids = packed.map(({ group }) => group.id);
    const order = orderOf(ids, choice.order);
    const places = new Map(order.map((id, place) => [id, place]));
    const place = ({ group }: PanelGroup) => places.get(group.id) ?? 0;
    return { order, groups: packed.toSorted((a, b) => place(a) - place(b)) };
  }, [packed, choice.order]);
  return { choice, choose, ...arranged };
}
