/** What tells the series of one chart apart, and what their names share. Pure. */

export interface BriefNames {
  /** In the order of the names. */
  readonly briefs: readonly string[];
  /** What all names begin and end with: said once, in the chart's title line. */
  readonly common: string;
}

/** Between a signal's title and the labels of its series, and between labels. */
const SEPARATOR = /( · | )/;

/** `In use · web-1` and `Idle · web-1` as `In use` and `Idle` of `web-1`; of one name nothing is taken away. */
export function briefNames(names: readonly string[]): BriefNames {
  // Words at even places, what separates them at odd ones.
  const words = names.map((name) => name.split(SEPARATOR));
  // Names of one make are told apart word by word, others by whole parts: `Total of 5` is not the total of `of 5`.
  const alike = new Set(words.map(({ length }) => length)).size === 1;
  const parts = alike ? words : names.map((name) => name.split(/( · )/));
  const [first = []] = parts;
  if (names.length < 2 || new Set(names).size < names.length) return { briefs: names, common: "" };
  // What is left must still name each of them.
  const room = (Math.min(...parts.map(({ length }) => length)) - 1) / 2;
  const head = count(room, (place) => parts.every((own) => own[2 * place] === first[2 * place]));
  const tail = count(room - head, (place) => parts.every((own) => own.at(-1 - 2 * place) === first.at(-1 - 2 * place)));
  const common = [first.slice(0, 2 * head).join(""), first.slice(first.length - 2 * tail).join("")];
  return {
    briefs: parts.map((own) => own.slice(2 * head, own.length - 2 * tail).join("")),
    common: common
      .map((text) => text.replace(/^[ ·]+|[ ·]+$/g, ""))
      .filter(Boolean)
      .join(" "),
  };
}

function count(most: number, holds: (place: number) => boolean): number {
  let found = 0;
  while (found < most && holds(found)) found += 1;
  return found;
}
