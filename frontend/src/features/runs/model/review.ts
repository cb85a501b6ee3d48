/**
 * The review form's state: what is typed, what of it is saved, and what somebody else wrote meanwhile. Pure.
 *
 * Nothing that was typed is given up without a choice: an answer that is newer than what the form began with is joined
 * field by field, and only fields that both sides changed are put to the user.
 */

import { type Action, joinActions, mergeActions, wordsOf } from "../review/actions/merge-actions";

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

export interface ReviewConflict {
  readonly field: ReviewField;
  readonly theirs: ReviewText;
  readonly author: string;
}

export interface ReviewDraft {
  /** What the server held at `version`. */
  readonly base: ReviewText;
  readonly version: number;
  readonly text: ReviewText;
  /** What is under way to the server. */
  readonly sent: ReviewText | null;
  readonly conflicts: readonly ReviewConflict[];
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
  | { readonly kind: "choose"; readonly field: ReviewField; readonly side: "mine" | "theirs" | "both" };

export function reduceReview(draft: ReviewDraft, event: ReviewEvent): ReviewDraft {
  switch (event.kind) {
    case "edit":
      return { ...draft, text: { ...draft.text, ...event.part }, problem: null };
    case "sending":
      return { ...draft, sent: draft.text };
    case "saved":
      return {
        ...draft,
        base: draft.sent ?? draft.base,
        version: event.version,
        sent: null,
        problem: null,
        savedMs: event.atMs,
      };
    case "failed":
      return { ...draft, sent: null, problem: event.problem };
    case "met":
      return meet(draft, event.theirs);
    case "choose":
      return choose(draft, event.field, event.side);
  }
}

export function startReview(saved: SavedReview): ReviewDraft {
  return {
    ...{ base: saved.text, version: saved.version, text: saved.text },
    ...{ sent: null, conflicts: [], problem: null, savedMs: null },
  };
}

/** What this browser kept of a form that was closed before it was saved. */
export interface KeptReview {
  readonly base: ReviewText;
  readonly version: number;
  readonly text: ReviewText;
}

export function resumeReview(kept: KeptReview, saved: SavedReview): ReviewDraft {
  return meet({ ...startReview({ text: kept.base, version: kept.version, author: "" }), text: kept.text }, saved);
}

/** Joins what the server holds now. An answer older than the draft's own version says nothing new. */
function meet(draft: ReviewDraft, theirs: SavedReview): ReviewDraft {
  if (theirs.version < draft.version) return draft;
  const text: Record<string, unknown> = { ...draft.text };
  const conflicts: ReviewConflict[] = draft.conflicts.filter(({ field }) =>
    same(draft.base[field], theirs.text[field]),
  );
  for (const field of REVIEW_FIELDS) {
    if (same(theirs.text[field], draft.base[field])) continue;
    if (same(draft.text[field], draft.base[field])) text[field] = theirs.text[field];
    else if (field === "actions") {
      // Each action is a thing of its own: two who write different ones at once are not in each other's way.
      const merged = mergeActions(draft.base.actions, draft.text.actions, theirs.text.actions);
      text[field] = merged.mine;
      const others = { ...theirs.text, actions: merged.theirs };
      if (merged.conflict) conflicts.push({ field, theirs: others, author: theirs.author });
    } else if (!same(draft.text[field], theirs.text[field])) {
      conflicts.push({ field, theirs: theirs.text, author: theirs.author });
    }
  }
  return {
    ...draft,
    ...{ base: theirs.text, version: theirs.version, text: text as unknown as ReviewText },
    ...{ sent: null, conflicts, problem: null },
  };
}

function choose(draft: ReviewDraft, field: ReviewField, side: "mine" | "theirs" | "both"): ReviewDraft {
  const conflict = draft.conflicts.find((one) => one.field === field);
  if (conflict === undefined) return draft;
  const theirs = conflict.theirs[field];
  const value =
    side === "mine"
      ? draft.text[field]
      : side === "theirs"
        ? theirs
        : field === "actions"
          ? joinActions(draft.text.actions, conflict.theirs.actions)
          : joinValues(draft.text[field], theirs);
  return {
    ...draft,
    text: { ...draft.text, [field]: value },
    conflicts: draft.conflicts.filter((one) => one !== conflict),
  };
}

function joinValues(mine: ReviewText[ReviewField], theirs: ReviewText[ReviewField]): ReviewText[ReviewField] {
  if (typeof mine === "string" || typeof theirs === "string") return `${String(theirs)}\n\n${String(mine)}`;
  const seen = new Set<string>();
  return [...theirs, ...mine].filter((item) => {
    const key = JSON.stringify(item);
    return seen.has(key) ? false : seen.add(key);
  }) as ReviewText["monitored"];
}

export type ReviewPhase = "empty" | "saved" | "dirty" | "saving" | "failed" | "conflict";

export function reviewPhase(draft: ReviewDraft): ReviewPhase {
  if (draft.conflicts.length > 0) return "conflict";
  if (draft.sent !== null) return "saving";
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

/** Reads what the browser kept; null when it is damaged or of another time. */
export function readKept(stored: string | null): KeptReview | null {
  if (stored === null) return null;
  try {
    const { base: wasBase, version, text: wasText } = JSON.parse(stored) as Partial<KeptReview>;
    // Kept by a version of the page that knew no actions.
    const [base, text] = [wasBase, wasText].map((one) => one && { ...one, actions: one.actions ?? [] });
    if (typeof version !== "number" || !isReviewText(base) || !isReviewText(text)) return null;
    return { base, version, text };
  } catch {
    return null;
  }
}

function isReviewText(value: unknown): value is ReviewText {
  if (typeof value !== "object" || value === null) return false;
  const record = value as Record<string, unknown>;
  return REVIEW_FIELDS.every((field) =>
    typeof EMPTY_REVIEW[field] === "string" ? typeof record[field] === "string" : Array.isArray(record[field]),
  );
}
