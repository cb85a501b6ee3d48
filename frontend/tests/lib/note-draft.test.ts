import { describe, expect, it } from "vitest";
import { readTime, writeTime } from "@/lib/time-input";
import { checkDraft, draftOf, newDraft } from "@/panels/notes/note-draft";

const NOW = Date.UTC(2026, 10, 21, 10, 30, 0);

describe("times as typed", () => {
  it("are read in the page's zone, and written so that they are read again", () => {
    expect(readTime("2026-11-21 10:30:00", "utc")).toEqual({ kind: "at", ms: NOW });
    expect(readTime("2026-11-21 10:30", "utc")).toEqual({ kind: "at", ms: NOW });
    for (const zone of ["utc", "local"] as const) {
      expect(readTime(writeTime(NOW + 250, zone), zone)).toEqual({ kind: "at", ms: NOW + 250 });
    }
    expect(readTime("now-5m", "utc")).toEqual({ kind: "now", offsetMs: -300_000 });
  });

  it("that do not exist are refused", () => {
    for (const text of ["2026-02-31 10:00", "2026-13-01 10:00", "2026-11-21 25:00", "21/11/2026", ""]) {
      expect(readTime(text, "utc"), text).toBeNull();
    }
  });
});

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
    const draft = { ...newDraft(" mika ", NOW + 400, null, "utc"), text: " deployed\n", tags: [" a ", ""] };
    expect(checkDraft({ ...draft, author: " " }, "utc", NOW)).toMatchObject({ values: { author: "" } });
    expect(checkDraft(draft, "utc", NOW)).toEqual({
      values: { author: "mika", text: "deployed", start_ms: NOW, end_ms: null, tags: ["a"] },
    });
  });

  it("keeps an existing annotation's exact times", () => {
    const note = { id: 7, author: "m", text: "x", start_ms: NOW + 123, end_ms: NOW + 456, tags: ["t"] };
    expect(checkDraft(draftOf(note, "utc"), "utc", NOW)).toMatchObject({
      values: { start_ms: NOW + 123, end_ms: NOW + 456 },
    });
  });
});
