/** An action of a review as it is typed. Pure. */

export interface Action {
  readonly id: string;
  readonly text: string;
  readonly owner: string;
  /** `YYYY-MM-DD`. */
  readonly due: string | null;
  readonly state: "open" | "done" | "dropped";
  readonly expected: string;
}

/** An empty one, under an id that nobody else is likely to make at the same time. */
export function newAction(): Action {
  const id = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => (byte % 36).toString(36)).join("");
  return { id, text: "", owner: "", due: null, state: "open", expected: "" };
}

/** The id, and what people see of it. */
export function wordsOf({ id, text, owner, due, expected, state }: Action): string[] {
  return [id, text, owner, due ?? "", expected, state];
}
