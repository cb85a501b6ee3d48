/** Steps that can be taken back, newest last. Immutable, so it can be React state. */
export type UndoStack<T> = readonly T[];

const DEPTH = 50;

/** Adds a step unless it repeats the newest one; the oldest steps fall off. */
export function pushStep<T>(stack: UndoStack<T>, step: T, same: (a: T, b: T) => boolean): UndoStack<T> {
  const newest = stack.at(-1);
  if (newest !== undefined && same(newest, step)) return stack;
  return [...stack, step].slice(-DEPTH);
}

/** The newest step and the stack without it; the step is null when nothing is left. */
export function popStep<T>(stack: UndoStack<T>): { readonly step: T | null; readonly rest: UndoStack<T> } {
  return { step: stack.at(-1) ?? null, rest: stack.slice(0, -1) };
}
