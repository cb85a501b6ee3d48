// @vitest-environment node
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { LIMIT_LOOK, seriesLook } from "@/charts/palette";
import { PALETTE_SIZE } from "@/lib/series/palette-places";

const css = readFileSync("src/charts/palette.css", "utf8");
type Rgb = readonly [number, number, number];

function variables(block: string): Map<string, Rgb> {
  const body = css.slice(css.indexOf(block)).split("}")[0] ?? "";
  const found = new Map<string, Rgb>();
  for (const [, name = "", hex = ""] of body.matchAll(/--lw-([\w-]+): #([0-9a-f]{6});/g)) {
    found.set(name, [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255) as unknown as Rgb);
  }
  return found;
}

const linear = (rgb: Rgb) =>
  rgb.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)) as unknown as Rgb;
const times = (m: readonly Rgb[], v: Rgb) => m.map(([a, b, c]) => a * v[0] + b * v[1] + c * v[2]) as unknown as Rgb;

/** WCAG 2.2 contrast ratio. */
function contrast(a: Rgb, b: Rgb): number {
  const luminance = (rgb: Rgb) => times([[0.2126, 0.7152, 0.0722]], linear(rgb))[0] ?? 0;
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

/** Distance in Oklab after simulating a colour vision deficiency (Machado et al. 2009, severity 1). */
const VISION: Readonly<Record<string, readonly Rgb[]>> = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
};

function oklab(rgb: Rgb): Rgb {
  const lms = times(
    [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005],
    ],
    rgb,
  ).map((value) => Math.cbrt(Math.max(0, value))) as unknown as Rgb;
  return times(
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766],
    ],
    lms,
  );
}

function distance(a: Rgb, b: Rgb, vision: string): number {
  const see = (rgb: Rgb) => oklab(times(VISION[vision] ?? [], linear(rgb)));
  const [x, y] = [see(a), see(b)];
  return Math.hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
}

describe.each([
  ["light", ":root {"],
  ["dark", ':root[data-mantine-color-scheme="dark"] {'],
])("%s scheme", (_scheme, block) => {
  const colors = variables(block);
  const color = (name: string) => {
    const found = colors.get(name);
    if (found === undefined) throw new Error(`palette.css lacks --lw-${name} in ${block}`);
    return found;
  };
  const series = Array.from({ length: PALETTE_SIZE }, (_, place) => color(`series-${place + 1}`));

  it("gives every line 3:1 and every text 4.5:1 against its ground", () => {
    for (const one of series) expect(contrast(one, color("surface"))).toBeGreaterThanOrEqual(3);
    for (const text of ["text", "text-dim", "limit", "stale", "note", "accent"]) {
      expect(contrast(color(text), color("surface")), text).toBeGreaterThanOrEqual(4.5);
    }
    expect(contrast(color("text-dim"), color("tooltip"))).toBeGreaterThanOrEqual(4.5);
    expect(contrast(color("text"), color("skeleton"))).toBeGreaterThanOrEqual(4.5);
  });

  it.each(Object.keys(VISION))("keeps the first four apart in any pair, and neighbours of all eight: %s", (vision) => {
    series.forEach((one, place) => {
      series.slice(0, place).forEach((other, before) => {
        const apart = distance(one, other, vision);
        const least = place < 4 ? 0.1 : place - before === 1 ? 0.08 : 0.055;
        expect(apart, `${before + 1} and ${place + 1}`).toBeGreaterThan(least);
      });
    });
  });
});

describe("seriesLook", () => {
  it("differs in shape or dash as well as in colour for the first 32 series", () => {
    const looks = Array.from({ length: 32 }, (_, slot) => seriesLook(slot));
    expect(new Set(looks.map((look) => `${look.marker} ${look.dash}`)).size).toBe(32);
    expect(new Set(looks.slice(0, 8).map((look) => look.color)).size).toBe(8);
    expect(LIMIT_LOOK.dash).not.toBeNull();
  });
});
