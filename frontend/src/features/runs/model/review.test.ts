import { describe, expect, it } from "vitest";
import {
  EMPTY_REVIEW,
  isUnsaved,
  type ReviewDraft,
  type ReviewEvent,
  type ReviewText,
  readKept,
  reduceReview,
  resumeReview,
  reviewPhase,
  type SavedReview,
  startReview,
} from "./review";

const saved = (version: number, text: Partial<ReviewText> = {}, author = "ken"): SavedReview => ({
  text: { ...EMPTY_REVIEW, ...text },
  version,
  author,
});
const replay = (draft: ReviewDraft, ...events: ReviewEvent[]) => events.reduce(reduceReview, draft);
const edit = (part: Partial<ReviewText>): ReviewEvent => ({ kind: "edit", part });

describe("saving as one types", () => {
  it("goes from empty over dirty and saving to saved", () => {
    const start = startReview(saved(0));
    expect(reviewPhase(start)).toBe("empty");
    const typed = replay(start, edit({ approach: "bounded pool" }));
    expect(reviewPhase(typed)).toBe("dirty");
    const sending = replay(typed, { kind: "sending" });
    expect(reviewPhase(sending)).toBe("saving");
    const done = replay(sending, { kind: "saved", version: 1, atMs: 5 });
    expect([reviewPhase(done), done.version, isUnsaved(done)]).toEqual(["saved", 1, false]);
  });

  it("keeps what is typed while a save is under way", () => {
    const done = replay(startReview(saved(0)), edit({ outcome: "a" }), { kind: "sending" }, edit({ outcome: "ab" }), {
      kind: "saved",
      version: 1,
      atMs: 5,
    });
    expect(done.text.outcome).toBe("ab");
    expect(reviewPhase(done)).toBe("dirty");
  });

  it("says why it failed, keeps the text, and tries anew after the next change", () => {
    const failed = replay(
      startReview(saved(0)),
      edit({ outcome: "a" }),
      { kind: "sending" },
      { kind: "failed", problem: "no" },
    );
    expect([reviewPhase(failed), failed.text.outcome]).toEqual(["failed", "a"]);
    expect(reviewPhase(replay(failed, edit({ outcome: "ab" })))).toBe("dirty");
  });
});

describe("two who write at once", () => {
  it("joins fields that only one of them changed", () => {
    const mine = replay(startReview(saved(1, { approach: "x" })), edit({ outcome: "better" }));
    const met = replay(mine, { kind: "met", theirs: saved(2, { approach: "x, measured twice" }) });
    expect(met.text).toMatchObject({ approach: "x, measured twice", outcome: "better" });
    expect([met.version, reviewPhase(met)]).toEqual([2, "dirty"]);
  });

  it("puts a field that both changed to the user, and saves nothing until it is chosen", () => {
    const mine = replay(startReview(saved(1)), edit({ outcome: "mine" }), { kind: "sending" });
    const met = replay(mine, { kind: "met", theirs: saved(2, { outcome: "theirs" }, "mika") });
    expect(reviewPhase(met)).toBe("conflict");
    expect(met.conflicts).toMatchObject([{ field: "outcome", author: "mika" }]);
    expect(met.text.outcome).toBe("mine");
    const choices = (["mine", "theirs", "both"] as const).map(
      (side) => replay(met, { kind: "choose", field: "outcome", side }).text.outcome,
    );
    expect(choices).toEqual(["mine", "theirs", "theirs\n\nmine"]);
    const took = replay(met, { kind: "choose", field: "outcome", side: "theirs" });
    expect(reviewPhase(took)).toBe("saved");
  });

  it("joins lists without doubles", () => {
    const mine = replay(startReview(saved(1)), edit({ attendees: ["ken", "mika"] }));
    const met = replay(mine, { kind: "met", theirs: saved(2, { attendees: ["yui", "mika"] }) });
    const both = replay(met, { kind: "choose", field: "attendees", side: "both" });
    expect(both.text.attendees).toEqual(["yui", "mika", "ken"]);
  });

  it("joins actions one by one, and puts only those to the user that both changed", () => {
    const action = (id: string, text: string) =>
      ({ ...{ id, text, owner: "", due: null, expected: "" }, state: "open" }) as const;
    const base = saved(1, { actions: [action("a", "a"), action("b", "b")] });
    const mine = replay(startReview(base), edit({ actions: [action("a", "mine"), action("b", "b")] }));
    const apart = replay(mine, {
      kind: "met",
      theirs: saved(2, { actions: [action("a", "a"), action("b", "theirs")] }),
    });
    expect(apart.text.actions.map(({ text }) => text)).toEqual(["mine", "theirs"]);
    expect(reviewPhase(apart)).toBe("dirty");
    const same = replay(apart, {
      kind: "met",
      theirs: saved(3, { actions: [action("a", "no"), action("b", "theirs")] }),
    });
    expect(same.conflicts).toMatchObject([{ field: "actions" }]);
    const choices = (["mine", "theirs", "both"] as const).map((side) =>
      replay(same, { kind: "choose", field: "actions", side }).text.actions.map(({ text }) => text),
    );
    expect(choices).toEqual([
      ["mine", "theirs"],
      ["no", "theirs"],
      ["no", "theirs", "mine"],
    ]);
  });

  it("two who typed the same have no conflict; an answer of before says nothing new", () => {
    const mine = replay(startReview(saved(1)), edit({ outcome: "same" }));
    expect(reviewPhase(replay(mine, { kind: "met", theirs: saved(2, { outcome: "same" }) }))).toBe("saved");
    expect(replay(mine, { kind: "met", theirs: saved(0) })).toBe(mine);
  });

  it("a third who overwrites the second's text is the one to choose against", () => {
    const mine = replay(startReview(saved(1)), edit({ outcome: "mine" }));
    const second = replay(mine, { kind: "met", theirs: saved(2, { outcome: "second" }) });
    const third = replay(second, { kind: "met", theirs: saved(3, { outcome: "third" }) });
    expect(third.conflicts.map(({ field, theirs }) => [field, theirs.outcome])).toEqual([["outcome", "third"]]);
    expect(third.text.outcome).toBe("mine");
  });
});

describe("what this browser kept", () => {
  it("is taken up again, and joined with what others wrote since", () => {
    const kept = { base: saved(1).text, version: 1, text: saved(1, { feedback: "typed offline" }).text };
    const back = readKept(JSON.stringify(kept));
    expect(back).toEqual(kept);
    const resumed = resumeReview(kept, saved(3, { outcome: "of others" }));
    expect(resumed.text).toMatchObject({ feedback: "typed offline", outcome: "of others" });
    expect([resumed.version, reviewPhase(resumed)]).toEqual([3, "dirty"]);
  });

  it("was kept by a page that knew no actions", () => {
    const { actions: _, ...before } = EMPTY_REVIEW;
    const kept = readKept(JSON.stringify({ base: before, version: 1, text: { ...before, outcome: "x" } }));
    expect(kept?.text).toEqual({ ...EMPTY_REVIEW, outcome: "x" });
  });

  it("is left alone when it cannot be read", () => {
    for (const text of [null, "", "{", "{}", '{"version":1,"base":{},"text":{}}', "[1]"])
      expect(readKept(text)).toBeNull();
  });
});
