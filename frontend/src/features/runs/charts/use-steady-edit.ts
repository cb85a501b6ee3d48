import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { runFiguresQuery } from "@/api/runs/queries";
import type { Figures, Run } from "@/api/runs/types";
import type { Range } from "@/lib/time/time";
import { useRunUpdate } from "../model/use-run-update";
import { clampWindow, type RunWindow, windowOf } from "../model/window";

export interface SteadyEdit {
  /** Null while nobody adjusts. */
  readonly draft: RunWindow | null;
  /** Figures over the draft. */
  readonly preview: Figures | null;
  readonly busy: boolean;
  readonly problem: Error | null;
  begin(): void;
  set(window: RunWindow): void;
  draw(range: Range): void;
  save(): void;
  reset(): void;
  cancel(): void;
}

const PAUSE_MS = 150;

/** Adjusting the steady window: what is drawn is only a draft, with its figures, until it is saved. */
export function useSteadyEdit(run: Run, originMs: number, lengthSeconds: number): SteadyEdit {
  const [draft, setDraft] = useState<RunWindow | null>(null);
  const [settled] = useDebouncedValue(draft, PAUSE_MS);
  const { patch } = useRunUpdate(run.id);
  const figures = useQuery({
    ...runFiguresQuery(run.id, settled?.from ?? 0, settled?.to ?? 1),
    enabled: draft !== null && settled !== null,
    placeholderData: keepPreviousData,
  });
  const draw = useCallback(
    (range: Range) => {
      const window = windowOf(range, originMs, lengthSeconds);
      if (window !== null) setDraft(window);
    },
    [originMs, lengthSeconds],
  );
  const held = run.steady_window;
  const close = { onSuccess: () => setDraft(null) };
  return {
    draft,
    preview: draft === null ? null : (figures.data ?? null),
    busy: patch.isPending,
    problem: figures.error,
    begin: () =>
      setDraft(clampWindow({ from: held?.from_seconds ?? 0, to: held?.to_seconds ?? lengthSeconds }, lengthSeconds)),
    set: (window) => setDraft(clampWindow(window, lengthSeconds)),
    draw,
    save: () => {
      if (draft !== null) patch.mutate({ steady_window: { from_seconds: draft.from, to_seconds: draft.to } }, close);
    },
    reset: () => patch.mutate({ steady_window: null }, close),
    cancel: () => setDraft(null),
  };
}
