/** Labels beside the ends of lines. Pure. */

/** Letters of about half a line's height, and those of scripts that fill their square, in pixels of a small text. */
const NARROW = 6.6;
const WIDE = 12;

/** About how wide a text is at 12 px: nothing is measured, so that no layout is read. */
export function textWidth(text: string): number {
  let width = 0;
  for (const letter of text) width += (letter.codePointAt(0) ?? 0) > 0x2e7f ? WIDE : NARROW;
  return width;
}

/**
 * Upper edges of labels that are `size` high and stand, as near as may be, with their middle at `wanted`: in that order,
 * within 0 and `height`, none over another as long as there is room for all.
 */
export function labelPlaces(wanted: readonly number[], size: number, height: number): readonly number[] {
  const order = wanted.map((_, place) => place).toSorted((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0));
  const tops = wanted.map((middle) => middle - size / 2);
  let free = 0;
  for (const place of order) {
    tops[place] = Math.max(free, tops[place] ?? 0);
    free = (tops[place] ?? 0) + size;
  }
  let foot = Math.max(height, size * wanted.length);
  for (const place of order.toReversed()) {
    tops[place] = Math.min(foot - size, tops[place] ?? 0);
    foot = tops[place] ?? 0;
  }
  return tops;
}
