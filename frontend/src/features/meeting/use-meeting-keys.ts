import { useEffect } from "react";

export interface MeetingKeys {
  readonly go: (step: number) => void;
  readonly first: () => void;
  readonly last: () => void;
  readonly full: () => void;
}

/** Arrow keys, page keys as a presenter sends them, Home, End and F; not while somebody types. */
export function useMeetingKeys({ go, first, last, full }: MeetingKeys): void {
  useEffect(() => {
    const actions: Readonly<Record<string, () => void>> = {
      ArrowRight: () => go(1),
      PageDown: () => go(1),
      ArrowLeft: () => go(-1),
      PageUp: () => go(-1),
      Home: first,
      End: last,
      f: full,
    };
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const action = actions[event.key];
      if (action === undefined) return;
      event.preventDefault();
      action();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [go, first, last, full]);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
