/**
 * Colours of a flame graph: those of one package are the same on every page; of a difference red is more and blue is
 * less. Pure; a test holds the contrast of the text on each.
 */

export type Scheme = "light" | "dark";
export type Rgb = readonly [number, number, number];

export const FLAME_TEXT: Readonly<Record<Scheme, string>> = { light: "#1d2329", dark: "#f2f4f6" };
const NEUTRAL: Readonly<Record<Scheme, Rgb>> = { light: [221, 225, 230], dark: [52, 59, 67] };
const MORE: Readonly<Record<Scheme, Rgb>> = { light: [245, 138, 122], dark: [150, 44, 34] };
const LESS: Readonly<Record<Scheme, Rgb>> = { light: [128, 178, 245], dark: [30, 80, 150] };
const HUES = 24;

/** What a function belongs to: `database/sql` of `database/sql.(*DB).conn`, `std` of `std::io::read`. */
export function packageOf(name: string): string {
  // Type arguments hold dots and slashes of their own.
  const plain = name.split("[", 1)[0] ?? name;
  const path = plain.lastIndexOf("/") + 1;
  const end = plain.slice(path).search(/[.:]/);
  return end < 0 ? plain : plain.slice(0, path + end);
}

/** A colour of its own for each package; the runtime's and what has no name stand back. */
export function packageColor(name: string, scheme: Scheme): string {
  const owner = packageOf(name);
  if (owner === "runtime" || owner.startsWith("runtime/") || owner.startsWith("(") || owner === "") {
    return css(NEUTRAL[scheme]);
  }
  return hueColor(hash(owner) % HUES, scheme);
}

export function hueColor(place: number, scheme: Scheme): string {
  const hue = Math.round((360 / HUES) * place);
  return scheme === "light" ? `hsl(${hue}, 58%, 78%)` : `hsl(${hue}, 34%, 29%)`;
}

/** From blue over grey to red, by the share of what was there before and now: -1 is gone, 1 is new. */
export function deltaColor(value: number, base: number, scheme: Scheme): string {
  const sum = value + base;
  const lean = sum > 0 ? (value - base) / sum : 0;
  const end = lean > 0 ? MORE[scheme] : LESS[scheme];
  // A quarter more is told from nothing at a glance: colours grow faster than the share at first.
  const far = Math.min(1, Math.abs(lean)) ** 0.6;
  return css(NEUTRAL[scheme].map((from, place) => from + ((end[place] ?? 0) - from) * far) as unknown as Rgb);
}

function css(rgb: Rgb): string {
  return `rgb(${rgb.map(Math.round).join(", ")})`;
}

/** FNV-1a, the same on every page and in every browser. */
function hash(text: string): number {
  let held = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) held = Math.imul(held ^ text.charCodeAt(at), 0x01000193);
  return held >>> 0;
}
