import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useReducer, useRef } from "react";
import { ApiError } from "@/api/client";
import { reviewQuery, writeReview } from "@/api/runs/queries";
import type { Review } from "@/api/runs/types";
import { readPreference, writePreference } from "@/lib/view/preferences";
import {
  EMPTY_REVIEW,
  type ReviewDraft,
  type ReviewEvent,
  type ReviewText,
  reduceReview,
  reviewPhase,
  type SavedReview,
  startReview,
} from "../model/review";

/** Long enough not to save every letter, short enough that nobody waits for it. */
const PAUSE_MS = 600;
/** Without an answer it is tried again on its own. */
const RETRY_MS = 5000;
/** Others write too. */
const REFRESH_MS = 15_000;

type Event = ReviewEvent | { readonly kind: "load"; readonly draft: ReviewDraft };

const reduce = (draft: ReviewDraft | null, event: Event): ReviewDraft | null => {
  if (event.kind === "load") return event.draft;
  return draft === null ? null : reduceReview(draft, event);
};

/** The review form's draft, which saves itself. */
export function useReview(run: string) {
  const client = useQueryClient();
  const query = useQuery({ ...reviewQuery(run), refetchInterval: REFRESH_MS });
  const [draft, dispatch] = useReducer(reduce, null);
  const latest = useRef<ReviewDraft | null>(null);
  useEffect(() => {
    latest.current = draft;
  }, [draft]);

  const { data } = query;
  useEffect(() => {
    if (data === undefined) return;
    const theirs = savedOf(data);
    const held = latest.current;
    if (held === null) dispatch({ kind: "load", draft: startReview(theirs) });
    else if (theirs.version > held.version && !held.isSending) dispatch({ kind: "met", theirs });
  }, [data]);

  const save = useCallback(
    async (held: ReviewDraft) => {
      dispatch({ kind: "sending" });
      try {
        const answer = await writeReview(run, { ...bodyOf(held.text), version: held.version, author: reviewAuthor() });
        dispatch({ kind: "saved", version: answer.version, atMs: Date.now() });
        client.setQueryData(reviewQuery(run).queryKey, answer);
        void client.invalidateQueries({ queryKey: ["runs", "one", run, "review", "history"] });
        void client.invalidateQueries({ queryKey: ["runs", "list"] });
      } catch (error) {
        if (error instanceof ApiError && error.status === 409) {
          const theirs = await client.fetchQuery({ ...reviewQuery(run), staleTime: 0 }).catch(() => null);
          if (theirs !== null) return dispatch({ kind: "met", theirs: savedOf(theirs) });
        }
        const offline = error instanceof ApiError && error.code === "offline";
        dispatch({ kind: "failed", problem: offline ? "" : error instanceof Error ? error.message : String(error) });
      }
    },
    [run, client],
  );

  const phase = draft === null ? null : reviewPhase(draft);
  const waits = draft !== null && (phase === "dirty" || (phase === "failed" && draft.problem === ""));
  useEffect(() => {
    if (!waits || draft === null) return;
    const timer = setTimeout(() => void save(draft), phase === "dirty" ? PAUSE_MS : RETRY_MS);
    return () => clearTimeout(timer);
  }, [waits, phase, draft, save]);

  useFlush(run, latest);
  const edit = useCallback((part: Partial<ReviewText>) => dispatch({ kind: "edit", part }), []);
  return {
    draft,
    phase,
    query,
    edit,
    dispatch: dispatch as (event: ReviewEvent) => void,
    retry: () => draft !== null && void save(draft),
  };
}

/** Whoever leaves before the pause is over is not made to wait; the browser asks where something cannot be saved. */
function useFlush(run: string, latest: { readonly current: ReviewDraft | null }): void {
  useEffect(() => {
    const flush = () => {
      const held = latest.current;
      if (held === null || reviewPhase(held) !== "dirty") return;
      const body = { ...bodyOf(held.text), version: held.version, author: reviewAuthor() };
      writeReview(run, body, true).catch(() => undefined);
    };
    const ask = (event: BeforeUnloadEvent) => {
      const phase = latest.current === null ? "empty" : reviewPhase(latest.current);
      if (phase === "failed" || phase === "conflict") event.preventDefault();
    };
    globalThis.addEventListener("pagehide", flush);
    globalThis.addEventListener("beforeunload", ask);
    return () => {
      globalThis.removeEventListener("pagehide", flush);
      globalThis.removeEventListener("beforeunload", ask);
      flush();
    };
  }, [run, latest]);
}

/** The name under annotations and reviews alike, as this browser remembers it. */
export function reviewAuthor(): string {
  return readPreference("author") ?? "";
}

export function setReviewAuthor(name: string): void {
  writePreference("author", name);
}

export function bodyOf(text: ReviewText) {
  return {
    ...text,
    expected: text.expected.map((one) => ({ ...one })),
    monitored: [...text.monitored],
    attendees: [...text.attendees],
    actions: text.actions.map((one) => ({ ...one })),
  };
}

export function textOf(review: Omit<Partial<ReviewText>, "actions"> & Pick<Review, "actions">): ReviewText {
  const { approach, expected, monitored, outcome, next_action, feedback, attendees } = { ...EMPTY_REVIEW, ...review };
  const actions = (review.actions ?? []).map((one) => ({ ...one, due: one.due ?? null }));
  return { approach, expected, monitored, outcome, next_action, feedback, attendees, actions };
}

function savedOf(review: Review): SavedReview {
  return { text: textOf(review), version: review.version, author: review.author };
}
