import { useState } from "react";

interface Held {
  readonly order: readonly string[];
  readonly question: string;
}

/** For the element that holds the list. */
export interface HoldHandlers {
  readonly onPointerEnter: () => void;
  readonly onPointerMove: () => void;
  readonly onPointerLeave: (event: React.PointerEvent<HTMLElement>) => void;
  readonly onFocus: () => void;
  readonly onBlur: (event: React.FocusEvent<HTMLElement>) => void;
}

/**
 * Remembers the order of what is looked at, by pointer or by focus; null while nobody looks. `question` is what the
 * list answers: another filter or sort order is no longer what was looked at, and null is an answer still to come.
 */
export function useHeldOrder(
  order: readonly string[],
  question: string | null = "",
): readonly [readonly string[] | null, HoldHandlers] {
  const [held, setHeld] = useState<Held | null>(null);
  const [pointed, setPointed] = useState(false);
  const hold = () => {
    if (question !== null) setHeld((before) => (before?.question === question ? before : { order, question }));
  };
  const handlers = {
    onPointerEnter: () => {
      setPointed(true);
      hold();
    },
    onPointerMove: hold,
    onPointerLeave: (event: React.PointerEvent<HTMLElement>) => {
      setPointed(false);
      if (!event.currentTarget.contains(document.activeElement)) setHeld(null);
    },
    onFocus: hold,
    onBlur: (event: React.FocusEvent<HTMLElement>) => {
      if (!pointed && !event.currentTarget.contains(event.relatedTarget)) setHeld(null);
    },
  };
  return [held?.question === question ? held.order : null, handlers];
}

/** Items as they stood, while somebody looks at them; what came since stands at the end. */
export function inHeldOrder<Item>(
  items: readonly Item[],
  held: readonly string[] | null,
  keyOf: (item: Item) => string,
): readonly Item[] {
  if (held === null) return items;
  const places = new Map(held.map((key, index) => [key, index]));
  const place = (item: Item) => places.get(keyOf(item)) ?? held.length;
  return items.toSorted((a, b) => place(a) - place(b));
}
