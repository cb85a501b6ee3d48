// @vitest-environment node
import { describe, expect, it } from "vitest";
import { nextHidden } from "./visibility";

const ids = ["a", "b", "c"];
const hiddenAfter = (hidden: string[], clicked: string, toggle: boolean) =>
  [...nextHidden(ids, new Set(hidden), clicked, toggle)].sort();

describe("nextHidden", () => {
  it("isolates by a click and shows all by a second one", () => {
    expect(hiddenAfter([], "b", false)).toEqual(["a", "c"]);
    expect(hiddenAfter(["a", "c"], "b", false)).toEqual([]);
    expect(hiddenAfter(["a", "c"], "a", false)).toEqual(["b", "c"]);
  });

  it("toggles one, and never leaves an empty chart", () => {
    expect(hiddenAfter([], "b", true)).toEqual(["b"]);
    expect(hiddenAfter(["b"], "b", true)).toEqual([]);
    expect(hiddenAfter(["a", "c"], "b", true)).toEqual([]);
  });
});
