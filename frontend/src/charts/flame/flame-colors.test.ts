// @vitest-environment node
import { describe, expect, it } from "vitest";
import { deltaColor, FLAME_TEXT, hueColor, packageColor, packageOf, type Scheme } from "./flame-colors";

/** Channels between 0 and 1 of what this file writes. */
function channels(color: string): number[] {
  if (color.startsWith("#")) return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255);
  const [first = 0, second = 0, third = 0] = (color.match(/[\d.]+/g) ?? []).map(Number);
  if (color.startsWith("rgb")) return [first, second, third].map((one) => one / 255);
  const [s, l] = [second / 100, third / 100];
  const of = (n: number) => {
    const k = (n + first / 30) % 12;
    return l - s * Math.min(l, 1 - l) * Math.max(-1, Math.min(k - 3, 9 - k, 1));
  };
  return [of(0), of(8), of(4)];
}

function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [one, other]
    .map((color) => {
      const [r = 0, g = 0, b = 0] = channels(color).map((c) =>
        c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4,
      );
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    })
    .sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

describe.each(["light", "dark"] as const)("text on %s boxes", (scheme: Scheme) => {
  it("can be read on every colour", () => {
    const hues = Array.from({ length: 24 }, (_, place) => hueColor(place, scheme));
    const leans = Array.from({ length: 21 }, (_, place) => deltaColor(place, 20 - place, scheme));
    for (const color of [...hues, ...leans, packageColor("runtime.futex", scheme)]) {
      expect(contrast(FLAME_TEXT[scheme], color), color).toBeGreaterThanOrEqual(4.5);
    }
  });

  it("keeps the colour of a package", () => {
    expect(packageColor("database/sql.(*DB).conn", scheme)).toBe(packageColor("database/sql.Open", scheme));
  });
});

describe("packages", () => {
  it.each([
    ["database/sql.(*DB).conn", "database/sql"],
    ["main.main", "main"],
    ["github.com/go-sql-driver/mysql.(*buffer).fill", "github.com/go-sql-driver/mysql"],
    ["slices.SortFunc[go.shape.[]main.x/y.Z]", "slices"],
    ["std::io::read", "std"],
    ["main", "main"],
    ["", ""],
  ])("of %s is %s", (name, owner) => {
    expect(packageOf(name)).toBe(owner);
  });
});
