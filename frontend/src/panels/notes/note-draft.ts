/** The annotation form's fields and what they must hold. Pure. */

import { readTime, writeTime } from "@/lib/time/input";
import { resolvePoint } from "@/lib/time/range";
import type { TimeZone } from "@/lib/time/time";

export interface NoteDraft {
  /** Null for a new annotation. */
  readonly id: number | null;
  readonly author: string;
  readonly text: string;
  readonly start: string;
  readonly end: string;
  readonly isSpan: boolean;
  readonly tags: readonly string[];
  readonly commit: string;
  readonly issue: string;
}

export type DraftProblem = "needText" | "needTime" | "needOrder";
export type DraftProblems = Partial<Record<"text" | "start" | "end", DraftProblem>>;

export interface DraftValues {
  /** Empty: whoever is signed in. */
  readonly author: string;
  readonly text: string;
  readonly start_ms: number;
  readonly end_ms: number | null;
  readonly tags: string[];
  readonly commit: string;
  readonly issue: string;
}

/** Clicks on a chart mean a second, not a millisecond. */
const toSecond = (ms: number) => Math.round(ms / 1000) * 1000;

export function newDraft(author: string, startMs: number, endMs: number | null, zone: TimeZone): NoteDraft {
  return {
    id: null,
    author,
    text: "",
    start: writeTime(toSecond(startMs), zone),
    end: endMs === null ? "" : writeTime(Math.max(toSecond(endMs), toSecond(startMs) + 1000), zone),
    isSpan: endMs !== null,
    tags: [],
    commit: "",
    issue: "",
  };
}

export function draftOf(
  note: {
    readonly id: number;
    readonly author: string;
    readonly text: string;
    readonly start_ms: number;
    readonly end_ms: number | null;
    readonly tags: readonly string[];
    readonly commit: string;
    readonly issue: string;
  },
  zone: TimeZone,
): NoteDraft {
  return {
    ...newDraft(note.author, note.start_ms, note.end_ms, zone),
    id: note.id,
    text: note.text,
    tags: note.tags,
    commit: note.commit,
    issue: note.issue,
    start: writeTime(note.start_ms, zone),
    end: note.end_ms === null ? "" : writeTime(note.end_ms, zone),
  };
}

/** The values to send, or what is wrong with which field. */
export function checkDraft(
  draft: NoteDraft,
  zone: TimeZone,
  now: number,
): { readonly values: DraftValues } | { readonly problems: DraftProblems } {
  const start = readTime(draft.start, zone);
  const end = draft.isSpan ? readTime(draft.end, zone) : null;
  const startMs = start === null ? null : resolvePoint(start, now);
  const endMs = end === null ? null : resolvePoint(end, now);
  const problems: DraftProblems = {
    ...(draft.text.trim() === "" && { text: "needText" as const }),
    ...(startMs === null && { start: "needTime" as const }),
    ...(draft.isSpan && endMs === null && { end: "needTime" as const }),
    ...(startMs !== null && endMs !== null && endMs <= startMs && { end: "needOrder" as const }),
  };
  if (Object.keys(problems).length > 0 || startMs === null) return { problems };
  return {
    values: {
      author: draft.author.trim(),
      text: draft.text.trim(),
      start_ms: startMs,
      end_ms: endMs,
      commit: draft.commit.trim(),
      issue: draft.issue.trim(),
      tags: draft.tags.map((tag) => tag.trim()).filter(Boolean),
    },
  };
}
