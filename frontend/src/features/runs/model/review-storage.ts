/** What of a review is not saved yet, in this browser's storage. */
import { type KeptReview, readKept } from "./review";

const name = (run: string) => `loadwatch.review.${run}`;

export function keptReview(run: string): KeptReview | null {
  try {
    return readKept(globalThis.localStorage.getItem(name(run)));
  } catch {
    return null;
  }
}

export function keepReview(run: string, { base, version, text }: KeptReview): void {
  try {
    globalThis.localStorage.setItem(name(run), JSON.stringify({ base, version, text }));
  } catch {
    // Storage may be forbidden or full: the form itself still holds the text and goes on trying to save it.
  }
}

export function dropReview(run: string): void {
  try {
    globalThis.localStorage.removeItem(name(run));
  } catch {
    // As above.
  }
}
