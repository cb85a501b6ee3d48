import { expect, it } from "vitest";
import { popStep, pushStep, type UndoStack } from "./undo-stack";

const same = (a: number, b: number) => a === b;

it("gives steps back newest first and leaves repeats out", () => {
  let stack: UndoStack<number> = [];
  for (const step of [1, 2, 2, 3]) stack = pushStep(stack, step, same);
  expect(stack).toEqual([1, 2, 3]);
  expect(popStep(stack)).toEqual({ step: 3, rest: [1, 2] });
  expect(popStep([])).toEqual({ step: null, rest: [] });
});

it("forgets the oldest steps", () => {
  let stack: UndoStack<number> = [];
  for (let step = 0; step < 80; step += 1) stack = pushStep(stack, step, same);
  expect(stack.length).toBe(50);
  expect(stack[0]).toBe(30);
});
