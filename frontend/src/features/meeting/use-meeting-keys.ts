import { useKeys } from "@/ui/use-keys";

export interface MeetingKeys {
  readonly go: (step: number) => void;
  readonly first: () => void;
  readonly last: () => void;
  readonly full: () => void;
}

/** Arrow keys, page keys as a presenter sends them, Home, End and F; not while somebody types. */
export function useMeetingKeys({ go, first, last, full }: MeetingKeys): void {
  const actions: Readonly<Record<string, () => void>> = {
    ArrowRight: () => go(1),
    PageDown: () => go(1),
    ArrowLeft: () => go(-1),
    PageUp: () => go(-1),
    Home: first,
    End: last,
    f: full,
  };
  useKeys((event) => {
    const action = actions[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  });
}
