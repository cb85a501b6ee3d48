import { useEffect, useRef, useState } from "react";

interface Held<Item> {
  readonly items: readonly Item[];
  readonly question: string;
}

type Pointer = React.PointerEvent<HTMLElement>;
type Focus = React.FocusEvent<HTMLElement>;

/** For the element that holds the list. */
export interface HoldHandlers {
  readonly onPointerEnter: (event: Pointer) => void;
  readonly onPointerMove: (event: Pointer) => void;
  readonly onPointerLeave: (event: Pointer) => void;
  readonly onFocus: (event: Focus) => void;
  readonly onBlur: (event: Focus) => void;
}

/**
 * Remembers what is looked at, by pointer or by focus, as it stood then; null while nobody looks. `question` is what
 * the list answers: another filter or sort order is no longer what was looked at, and null is an answer still to come.
 */
export function useHeldOrder<Item>(
  items: readonly Item[],
  question: string | null = "",
): readonly [readonly Item[] | null, HoldHandlers] {
  const [held, setHeld] = useState<Held<Item> | null>(null);
  const [pointed, setPointed] = useState(false);
  const list = useRef<HTMLElement>(null);
  const hold = ({ currentTarget }: Pointer | Focus) => {
    list.current = currentTarget;
    if (question !== null) setHeld((before) => (before?.question === question ? before : { items, question }));
  };
  // What is taken away while it is pointed at, or has the focus, says no farewell: looked for after each change.
  useEffect(() => {
    if (held === null || list.current === null) return;
    const gone = !list.current.isConnected;
    if (gone) setPointed(false);
    if (gone || (!pointed && !list.current.contains(document.activeElement))) setHeld(null);
  });
  const handlers = {
    onPointerEnter: (event: Pointer) => {
      setPointed(true);
      hold(event);
    },
    onPointerMove: hold,
    onPointerLeave: (event: Pointer) => {
      setPointed(false);
      if (!event.currentTarget.contains(document.activeElement)) setHeld(null);
    },
    onFocus: hold,
    onBlur: (event: Focus) => {
      if (!pointed && !event.currentTarget.contains(event.relatedTarget)) setHeld(null);
    },
  };
  return [held?.question === question ? held.items : null, handlers];
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
