import { describe, expect, it } from "vitest";
import { type Action, joinActions, mergeActions } from "./merge-actions";

const action = (id: string, part: Partial<Action> = {}): Action => ({
  ...{ id, text: id, owner: "", due: null, state: "open", expected: "" },
  ...part,
});
const ids = (actions: readonly Action[]) => actions.map((one) => `${one.id}:${one.text}`);

describe("two who write actions at once", () => {
  it("keep what each did to different ones: added, changed, removed", () => {
    const base = [action("a"), action("b"), action("c")];
    const mine = [action("a", { text: "mine" }), action("b"), action("c"), action("m")];
    const theirs = [action("b", { text: "theirs" }), action("a"), action("t")];
    const merged = mergeActions(base, mine, theirs);
    expect(merged.conflict).toBe(false);
    expect(ids(merged.mine)).toEqual(["b:theirs", "a:mine", "t:t", "m:m"]);
    expect(merged.theirs).toEqual(merged.mine);
  });

  it("have to choose where both changed one, or one removed what the other changed", () => {
    const base = [action("a"), action("b"), action("c")];
    const mine = [action("a", { text: "mine" }), action("c")];
    const theirs = [action("a", { owner: "ken" }), action("b", { text: "theirs" }), action("c"), action("t")];
    const merged = mergeActions(base, mine, theirs);
    expect(merged.conflict).toBe(true);
    expect(ids(merged.mine)).toEqual(["a:mine", "c:c", "t:t"]);
    expect(ids(merged.theirs)).toEqual(["a:a", "b:theirs", "c:c", "t:t"]);
  });

  it("did the same without a word", () => {
    const done = [action("a", { state: "done" })];
    expect(mergeActions([action("a")], done, done)).toEqual({ mine: done, theirs: done, conflict: false });
  });

  it("can have both", () => {
    const joined = joinActions([action("a", { text: "mine" }), action("b")], [action("a"), action("a2"), action("b")]);
    expect(ids(joined)).toEqual(["a:a", "a2:a2", "b:b", "a3:mine"]);
  });
});
