import { expect, it } from "vitest";
import { aroundRun } from "./around";

it("shows a little of what came before and after, and nothing after the present", () => {
  expect(aroundRun(1000, 2000, false)).toEqual({ startMs: 980, endMs: 2050 });
  expect(aroundRun(1000, 2000, true)).toEqual({ startMs: 980, endMs: 2000 });
});
