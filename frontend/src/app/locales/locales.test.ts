import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { chooseLanguage, i18n, startI18n } from "@/app/i18n";
import { en } from "./en";
import { ja } from "./ja";

function leaves(texts: object, path = ""): [string, string][] {
  return Object.entries(texts).flatMap(([key, value]) =>
    typeof value === "string" ? [[path + key, value] as [string, string]] : leaves(value as object, `${path}${key}.`),
  );
}
const placeholders = (text: string) => [...text.matchAll(/\{\{(\w+)\}\}/g)].map((match) => match[1]).sort();

it("both languages fill in the same values", () => {
  const japanese = new Map(leaves(ja));
  for (const [key, text] of leaves(en)) expect(placeholders(japanese.get(key) ?? ""), key).toEqual(placeholders(text));
  expect(japanese.size).toBe(leaves(en).length);
});

it("every text is used by the page", () => {
  const root = join(import.meta.dirname, "../..");
  const source = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => /(?<!\.test)\.tsx?$/.test(name) && !name.includes("locales") && !name.startsWith("testing"))
    .map((name) => readFileSync(join(root, name), "utf8"))
    .join("\n");
  // Keys that are put together, such as `range.span_${span}`, are found by their fixed beginning.
  const used = (key: string) => source.includes(`"${key}"`) || source.includes(`\`${key.replace(/_[^.]*$/, "_${")}`);
  const prefixed = (key: string) => source.includes(`\`${key.split(".")[0]}.\${`);
  expect(
    leaves(en)
      .map(([key]) => key)
      .filter((key) => !used(key) && !prefixed(key)),
  ).toEqual([]);
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
