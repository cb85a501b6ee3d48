// @vitest-environment jsdom
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { chooseLanguage, i18n, startI18n } from "@/app/i18n";
import { en } from "./en";
import { ja } from "./ja";
import { pages } from "./pages/en";

function leaves(texts: object, path = ""): [string, string][] {
  return Object.entries(texts).flatMap(([key, value]) =>
    typeof value === "string" ? [[path + key, value] as [string, string]] : leaves(value as object, `${path}${key}.`),
  );
}
const placeholders = (text: string) => [...text.matchAll(/\{\{(\w+)\}\}/g)].map((match) => match[1]).sort();

const english = { ...en, ...pages };
const sources = join(import.meta.dirname, "../..");

it("both languages fill in the same values", () => {
  const japanese = new Map(leaves(ja));
  for (const [key, text] of leaves(english))
    expect(placeholders(japanese.get(key) ?? ""), key).toEqual(placeholders(text));
  expect(japanese.size).toBe(leaves(english).length);
});

it("every text is used by the page", () => {
  const source = readdirSync(sources, { recursive: true, encoding: "utf8" })
    .filter((name) => /(?<!\.test)\.tsx?$/.test(name) && !name.includes("locales") && !name.startsWith("testing"))
    .map((name) => readFileSync(join(sources, name), "utf8"))
    .join("\n");
  // Keys that are put together, such as `range.span_${span}`, are found by their fixed beginning.
  const written = (key: string) => source.includes(`"${key}"`) || source.includes(`\`${key.replace(/_[^.]*$/, "_${")}`);
  // Plural forms are chosen by i18next.
  const used = (key: string) => written(key) || written(key.replace(/_(one|other)$/, ""));
  const prefixed = (key: string) => source.includes(`\`${key.split(".")[0]}.\${`);
  expect(
    leaves(english)
      .map(([key]) => key)
      .filter((key) => !used(key) && !prefixed(key)),
  ).toEqual([]);
});

it("the first page needs no text of those that are loaded later", () => {
  const seen = new Set<string>();
  const wrong: string[] = [];
  const visit = (file: string) => {
    if (seen.has(file) || file.includes("/locales/")) return;
    seen.add(file);
    const text = readFileSync(file, "utf8");
    for (const [, name, key] of text.matchAll(/["'`]((\w+)\.\w[\w.]*)/g))
      if (key !== undefined && Object.hasOwn(pages, key)) wrong.push(`${file.slice(sources.length)}: ${name}`);
    for (const [, path = ""] of text.matchAll(/^(?:import|export) (?!type\b)[^;"]*"([@.][^"]*)";$/gm)) {
      const whole = path.startsWith("@/") ? join(sources, path.slice(2)) : join(dirname(file), path);
      const found = [`${whole}.ts`, `${whole}.tsx`].find((name) => existsSync(name));
      if (found !== undefined) visit(found);
    }
  };
  visit(join(sources, "app/main.tsx"));
  expect(seen.size).toBeGreaterThan(100);
  expect(wrong).toEqual([]);
});

it("the remembered language wins, then the browser's first known one", () => {
  expect(chooseLanguage("ja", ["en-GB"])).toBe("ja");
  expect(chooseLanguage("xx", ["fr-FR", "ja-JP", "en"])).toBe("ja");
  expect(chooseLanguage(null, ["fr"])).toBe("en");
});

it("a remark that the server writes in English is found by its code in Japanese only", async () => {
  const found = (code: string) => i18n.t(`remarks.${code}`, { defaultValue: "", skipInterpolation: true });
  await startI18n("ja");
  expect(found("damaged-more")).toContain("{places}");
  expect(found("of-tomorrow")).toBe("");
  await i18n.changeLanguage("en");
  expect(found("damaged-more")).toBe("");
});
