import { createContext, type ReactNode, use, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useSearchParams } from "react-router";
import { DEFAULT_RANGE, followsNow, rangesEqual, type TimeRange } from "@/lib/time/range";
import { decodeView, encodeView, isLive, type ViewState } from "./state";
import { popStep, pushStep, type UndoStack } from "./undo-stack";

/** What a step back restores. */
type Step = Pick<ViewState, "range" | "pausedAt">;

export interface View extends ViewState {
  readonly live: boolean;
  /** Parameters of the address that could not be read. */
  readonly problems: readonly string[];
  readonly canUndo: boolean;
  setRange(range: TimeRange): void;
  undoRange(): void;
  /** Stops at `nowMs`, or goes on; a fixed range goes on as the last moving one. */
  togglePause(nowMs: number): void;
  change(change: Partial<ViewState>): void;
}

const Context = createContext<View | null>(null);

const sameStep = (a: Step, b: Step) => a.pausedAt === b.pausedAt && rangesEqual(a.range, b.range);

interface ProviderProps {
  /** The range of an address that names none; the same object at each rendering. */
  readonly usual?: TimeRange;
  readonly children: ReactNode;
}

/** The state that the address holds, for header and pages alike. A page with another usual range has one of its own. */
export function ViewProvider({ usual = DEFAULT_RANGE, children }: ProviderProps) {
  const [params, setParams] = useSearchParams();
  const { view, problems } = useMemo(() => decodeView(params, Date.now(), usual), [params, usual]);
  const [steps, setSteps] = useState<UndoStack<Step>>([]);
  const lastMoving = useRef(usual);
  useEffect(() => {
    if (followsNow(view.range)) lastMoving.current = view.range;
  }, [view.range]);

  // The router renders a new address when it finds time; what comes until then must build on that address already.
  const latest = useRef(params);
  useEffect(() => {
    latest.current = params;
  }, [params]);
  const present = useCallback(() => decodeView(latest.current, Date.now(), usual).view, [usual]);

  const change = useCallback(
    (part: Partial<ViewState>) => {
      latest.current = encodeView({ ...present(), ...part }, latest.current, usual);
      setParams(latest.current, {
        // A zoom can be taken back with the browser's own button; lesser changes would only clutter its history.
        replace: part.range === undefined,
        preventScrollReset: true,
      });
    },
    [setParams, present, usual],
  );
  const setRange = useCallback(
    (range: TimeRange) => {
      const before = present();
      setSteps((held) => pushStep(held, { range: before.range, pausedAt: before.pausedAt }, sameStep));
      change({ range, pausedAt: null });
    },
    [present, change],
  );
  const undoRange = useCallback(() => {
    const { step, rest } = popStep(steps);
    if (step === null) return;
    setSteps(rest);
    change(step);
  }, [steps, change]);
  const togglePause = useCallback(
    (nowMs: number) => {
      const now = present();
      if (isLive(now)) change({ pausedAt: nowMs });
      else if (followsNow(now.range)) change({ pausedAt: null });
      else setRange(lastMoving.current);
    },
    [present, change, setRange],
  );
  const value = useMemo(
    (): View => ({
      ...view,
      live: isLive(view),
      problems,
      canUndo: steps.length > 0,
      setRange,
      undoRange,
      togglePause,
      change,
    }),
    [view, problems, steps.length, setRange, undoRange, togglePause, change],
  );
  return <Context value={value}>{children}</Context>;
}

export function useView(): View {
  const view = use(Context);
  if (view === null) throw new Error("useView needs a ViewProvider above it");
  return view;
}
