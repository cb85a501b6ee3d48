/** Actions of a review that two people write at once. Pure. */

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
export function newAction(others: readonly Action[]): Action {
  const id = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => (byte % 36).toString(36)).join("");
  return { id: freeId(id, others), text: "", owner: "", due: null, state: "open", expected: "" };
}

/** The id, and what people see of it. */
export function wordsOf({ id, text, owner, due, expected, state }: Action): string[] {
  return [id, text, owner, due ?? "", expected, state];
}

interface Merged {
  /** All changes of both sides; mine where both changed the same action. */
  readonly mine: readonly Action[];
  /** The same, with theirs there. */
  readonly theirs: readonly Action[];
  readonly conflict: boolean;
}

/** Joins what two made of the same actions, one by one: theirs in their order, then those that are new of mine. */
export function mergeActions(base: readonly Action[], mine: readonly Action[], theirs: readonly Action[]): Merged {
  const [before, here, there] = [base, mine, theirs].map((list) => new Map(list.map((one) => [one.id, one])));
  const sides = { mine: [] as Action[], theirs: [] as Action[] };
  let conflict = false;
  for (const id of new Set([...theirs, ...mine].map((one) => one.id))) {
    const [was, my, their] = [before?.get(id), here?.get(id), there?.get(id)];
    const both = !same(my, their) && !same(my, was) && !same(their, was);
    const agreed = same(my, was) ? their : my;
    conflict ||= both;
    for (const [side, one] of [
      ["mine", both ? my : agreed],
      ["theirs", both ? their : agreed],
    ] as const) {
      if (one !== undefined) sides[side].push(one);
    }
  }
  return { ...sides, conflict };
}

/** Both lists; an action that stands in both with other words is there twice, mine under a new id. */
export function joinActions(mine: readonly Action[], theirs: readonly Action[]): readonly Action[] {
  const joined = [...theirs];
  for (const one of mine) {
    const other = joined.find(({ id }) => id === one.id);
    if (other === undefined) joined.push(one);
    else if (!same(one, other)) joined.push({ ...one, id: freeId(one.id, joined) });
  }
  return joined;
}

const LONGEST_ID = 16;

function freeId(id: string, taken: readonly Action[]): string {
  if (!taken.some((one) => one.id === id)) return id;
  for (let number = 2; ; number += 1) {
    const wanted = `${id.slice(0, LONGEST_ID - String(number).length)}${number}`;
    if (!taken.some((one) => one.id === wanted)) return wanted;
  }
}

function same(a: Action | undefined, b: Action | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return JSON.stringify(wordsOf(a)) === JSON.stringify(wordsOf(b));
}
