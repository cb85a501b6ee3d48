import type { QueryClient } from "@tanstack/react-query";
import { ApiError } from "@/api/client";
import { openActionsQuery, reviewQuery, writeReview } from "@/api/runs/queries";
import { bodyOf, reviewAuthor, textOf } from "../use-review";
import type { Action } from "./merge-actions";

const ATTEMPTS = 3;
const CONFLICT = 409;

/**
 * Changes the state of one action in the review that it stands in, and nothing else of it: where somebody else writes at
 * the same time, into what they have written.
 *
 * @returns "gone" where the review has the action no more.
 * @throws ApiError of the server.
 */
export async function setActionState(
  client: QueryClient,
  run: string,
  id: string,
  state: Action["state"],
): Promise<"set" | "gone"> {
  for (let attempt = 1; ; attempt += 1) {
    const review = await client.fetchQuery({ ...reviewQuery(run), staleTime: 0 });
    const text = textOf(review);
    if (!text.actions.some((one) => one.id === id)) return "gone";
    const actions = text.actions.map((one) => (one.id === id ? { ...one, state } : one));
    try {
      const body = { ...bodyOf({ ...text, actions }), version: review.version, author: reviewAuthor() };
      client.setQueryData(reviewQuery(run).queryKey, await writeReview(run, body));
      void client.invalidateQueries({ queryKey: openActionsQuery.queryKey });
      return "set";
    } catch (error) {
      if (!(error instanceof ApiError && error.status === CONFLICT) || attempt === ATTEMPTS) throw error;
    }
  }
}
