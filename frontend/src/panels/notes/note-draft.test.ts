import { describe, expect, it } from "vitest";
import { writeTime } from "@/lib/time/input";
import { checkDraft, draftOf, newDraft } from "./note-draft";

const NOW = Date.UTC(2026, 10, 21, 10, 30, 0);

describe("the annotation form", () => {
  it("says what is missing", () => {
    const empty = { ...newDraft("", NOW, null, "utc"), start: "soon", isSpan: true, end: "" };
    expect(checkDraft(empty, "utc", NOW)).toEqual({
      problems: { text: "needText", start: "needTime", end: "needTime" },
    });
    const backwards = { ...newDraft("m", NOW, NOW, "utc"), text: "x", end: writeTime(NOW - 5000, "utc") };
    expect(checkDraft(backwards, "utc", NOW)).toEqual({ problems: { end: "needOrder" } });
  });

  it("gives trimmed values, and no end for an instant", () => {
    const draft = {
      ...newDraft(" mika ", NOW + 400, null, "utc"),
      text: " deployed\n",
      tags: [" a ", ""],
      commit: " 3f2c1",
      issue: "#27 ",
    };
    expect(checkDraft({ ...draft, author: " " }, "utc", NOW)).toMatchObject({ values: { author: "" } });
    expect(checkDraft(draft, "utc", NOW)).toEqual({
      values: {
        author: "mika",
        text: "deployed",
        start_ms: NOW,
        end_ms: null,
        tags: ["a"],
        commit: "3f2c1",
        issue: "#27",
      },
    });
  });

  it("keeps an existing annotation's exact times", () => {
    const note = {
      id: 7,
      author: "m",
      text: "x",
      start_ms: NOW + 123,
      end_ms: NOW + 456,
      tags: ["t"],
      commit: "",
      issue: "",
    };
    expect(checkDraft(draftOf(note, "utc"), "utc", NOW)).toMatchObject({
      values: { start_ms: NOW + 123, end_ms: NOW + 456 },
    });
  });
});
