/** The review form's state: what is typed, what of it is saved, and whether somebody else saved meanwhile. Pure. */

import { type Action, wordsOf } from "../review/actions/action";

export interface Expected {
  readonly expression: string;
  readonly note: string;
}

export interface ReviewText {
  readonly approach: string;
  readonly expected: readonly Expected[];
  readonly monitored: readonly string[];
  readonly outcome: string;
  readonly next_action: string;
  readonly feedback: string;
  readonly attendees: readonly string[];
  readonly actions: readonly Action[];
}

export type ReviewField = keyof ReviewText;

export const REVIEW_FIELDS = [
  "approach",
  "expected",
  "monitored",
  "outcome",
  "next_action",
  "feedback",
  "attendees",
  "actions",
] as const satisfies readonly ReviewField[];

export const EMPTY_REVIEW: ReviewText = {
  approach: "",
  expected: [],
  monitored: [],
  outcome: "",
  next_action: "",
  feedback: "",
  attendees: [],
  actions: [],
};

/** A review as the server holds it. */
export interface SavedReview {
  readonly text: ReviewText;
  readonly version: number;
  readonly author: string;
}

export interface ReviewDraft {
  /** What the server held at `version`. */
  readonly base: ReviewText;
  readonly version: number;
  readonly text: ReviewText;
  /** What was sent last. */
  readonly sent: ReviewText | null;
  readonly isSending: boolean;
  /** What somebody else saved since, while something was typed here. */
  readonly conflict: SavedReview | null;
  /** Why the last attempt failed; an empty text when the server did not answer. */
  readonly problem: string | null;
  readonly savedMs: number | null;
}

export type ReviewEvent =
  | { readonly kind: "edit"; readonly part: Partial<ReviewText> }
  | { readonly kind: "sending" }
  | { readonly kind: "saved"; readonly version: number; readonly atMs: number }
  | { readonly kind: "failed"; readonly problem: string }
  | { readonly kind: "met"; readonly theirs: SavedReview }
  | { readonly kind: "reload" | "overwrite" };

export function reduceReview(draft: ReviewDraft, event: ReviewEvent): ReviewDraft {
  const { conflict } = draft;
  switch (event.kind) {
    case "edit":
      return { ...draft, text: { ...draft.text, ...event.part }, problem: null };
    case "sending":
      return { ...draft, sent: draft.text, isSending: true };
    case "saved":
      return {
        ...draft,
        ...{ base: draft.sent ?? draft.base, version: event.version, savedMs: event.atMs },
        ...{ isSending: false, problem: null },
      };
    case "failed":
      return { ...draft, isSending: false, problem: event.problem };
    case "met":
      return meet({ ...draft, isSending: false }, event.theirs);
    case "reload":
      return conflict === null ? draft : startReview(conflict);
    case "overwrite":
      return conflict === null ? draft : { ...draft, base: conflict.text, version: conflict.version, conflict: null };
  }
}

export function startReview(saved: SavedReview): ReviewDraft {
  return {
    ...{ base: saved.text, version: saved.version, text: saved.text },
    ...{ sent: null, isSending: false, conflict: null, problem: null, savedMs: null },
  };
}

/** Takes what the server holds now, where nothing typed here stands against it. */
function meet(draft: ReviewDraft, theirs: SavedReview): ReviewDraft {
  if (theirs.version <= draft.version) return draft;
  if (!isUnsaved(draft) || sameReview(draft.text, theirs.text)) return startReview(theirs);
  // What was sent has arrived, and only the answer was lost.
  if (draft.sent !== null && sameReview(draft.sent, theirs.text))
    return { ...draft, base: theirs.text, version: theirs.version, problem: null };
  return { ...draft, conflict: theirs, problem: null };
}

export type ReviewPhase = "empty" | "saved" | "dirty" | "saving" | "failed" | "conflict";

export function reviewPhase(draft: ReviewDraft): ReviewPhase {
  if (draft.conflict !== null) return "conflict";
  if (draft.isSending) return "saving";
  if (draft.problem !== null) return "failed";
  if (!sameReview(draft.text, draft.base)) return "dirty";
  return draft.version > 0 ? "saved" : "empty";
}

/** Whether anything typed is not with the server yet. */
export function isUnsaved(draft: ReviewDraft): boolean {
  return !sameReview(draft.text, draft.base);
}

export function sameReview(a: ReviewText, b: ReviewText): boolean {
  return REVIEW_FIELDS.every((field) => same(a[field], b[field]));
}

function same(a: ReviewText[ReviewField], b: ReviewText[ReviewField]): boolean {
  return a === b || JSON.stringify(normal(a)) === JSON.stringify(normal(b));
}

/** Keys in one order: what comes from the server and what was typed may differ in it. */
function normal(value: ReviewText[ReviewField]): unknown {
  if (typeof value === "string") return value;
  return value.map((item) =>
    typeof item === "string" ? item : "id" in item ? wordsOf(item) : [item.expression, item.note],
  );
}
