import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const SOURCES = join(import.meta.dirname, "..");
/** The scale, which the meeting enlarges, and what a parent says. */
const OF_THE_SCALE = /^(inherit|var\(--lw-type-\w+\))$/;
/** Phones zoom in on fields with smaller letters; paper has its own measure. */
const FIELDS_AND_PAPER = /^(1rem|[\d.]+pt)$/;

it("letters have the sizes of the type scale: 28, 20, 14 and 12", () => {
  const sheets = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".css"));
  const strays = sheets.flatMap((name) =>
    [...readFileSync(join(SOURCES, name), "utf8").matchAll(/font-size:\s*([^;]+);/g)]
      .map(([, size = ""]) => size)
      .filter((size) => !OF_THE_SCALE.test(size) && !FIELDS_AND_PAPER.test(size))
      .map((size) => `${name}: ${size}`),
  );
  expect(sheets.length).toBeGreaterThan(50);
  expect(strays).toEqual([]);
});
