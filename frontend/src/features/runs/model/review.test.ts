import { describe, expect, it } from "vitest";
import { EMPTY_REVIEW, isUnsaved, type ReviewText, reduceReview, reviewPhase, startReview } from "./review";

const text = (part: Partial<ReviewText>): ReviewText => ({ ...EMPTY_REVIEW, ...part });
const saved = (part: Partial<ReviewText>, version: number, author = "mika") => ({ text: text(part), version, author });
const typed = (part: Partial<ReviewText>) =>
  reduceReview(startReview(saved({ approach: "a" }, 1)), { kind: "edit", part });

describe("what is typed", () => {
  it("is saved, and what is typed meanwhile is not", () => {
    const sending = reduceReview(typed({ approach: "b" }), { kind: "sending" });
    expect(reviewPhase(sending)).toBe("saving");
    const more = reduceReview(sending, { kind: "edit", part: { outcome: "c" } });
    const done = reduceReview(more, { kind: "saved", version: 2, atMs: 5 });
    expect([done.version, done.base.approach, reviewPhase(done), isUnsaved(done)]).toEqual([2, "b", "dirty", true]);
    expect(reviewPhase(startReview(saved({}, 0)))).toBe("empty");
  });

  it("stays where it cannot be saved", () => {
    const failed = reduceReview(reduceReview(typed({ approach: "b" }), { kind: "sending" }), {
      kind: "failed",
      problem: "",
    });
    expect([reviewPhase(failed), failed.text.approach, isUnsaved(failed)]).toEqual(["failed", "b", true]);
  });
});

describe("what somebody else saved", () => {
  it("is shown at once where nothing is typed here", () => {
    const draft = reduceReview(startReview(saved({ approach: "a" }, 1)), {
      kind: "met",
      theirs: saved({ approach: "theirs" }, 2),
    });
    expect([draft.text.approach, draft.version, reviewPhase(draft)]).toEqual(["theirs", 2, "saved"]);
  });

  it("waits for a choice where something is, whatever the field, and the newest of it counts", () => {
    const met = reduceReview(typed({ approach: "mine" }), { kind: "met", theirs: saved({ feedback: "good" }, 2) });
    expect([reviewPhase(met), met.text.approach, met.version]).toEqual(["conflict", "mine", 1]);
    const again = reduceReview(met, { kind: "met", theirs: saved({ feedback: "better" }, 3, "ken") });
    const reloaded = reduceReview(again, { kind: "reload" });
    expect([reloaded.text, reloaded.version, reviewPhase(reloaded)]).toEqual([
      text({ feedback: "better" }),
      3,
      "saved",
    ]);
    const over = reduceReview(again, { kind: "overwrite" });
    expect([over.text.approach, over.text.feedback, over.version, reviewPhase(over)]).toEqual(["mine", "", 3, "dirty"]);
  });

  it("is nothing new where it is older, the same, or what was sent from here", () => {
    const mine = typed({ approach: "mine" });
    expect(reduceReview(mine, { kind: "met", theirs: saved({ approach: "old" }, 1) })).toEqual(mine);
    const same = reduceReview(mine, { kind: "met", theirs: saved({ approach: "mine" }, 2) });
    expect([reviewPhase(same), same.version]).toEqual(["saved", 2]);
    const lost = reduceReview(reduceReview(mine, { kind: "sending" }), { kind: "edit", part: { outcome: "more" } });
    const met = reduceReview(lost, { kind: "met", theirs: saved({ approach: "mine" }, 2, "") });
    expect([reviewPhase(met), met.version, met.text.outcome]).toEqual(["dirty", 2, "more"]);
  });

  it("is compared without regard to the order of keys", () => {
    const action = { id: "a", text: "t", owner: "", due: null, state: "open", expected: "" } as const;
    const turned = { expected: "", state: "open", due: null, owner: "", text: "t", id: "a" } as const;
    const draft = reduceReview(startReview(saved({ actions: [action] }, 1)), {
      kind: "edit",
      part: { actions: [turned] },
    });
    expect(isUnsaved(draft)).toBe(false);
  });
});
