import { describe, expect, it } from "vitest";
import { completed, isPlain, quoted, suggestions, textOfOld, tokenAt, wordTerm } from "./filter-text";

const facets = {
  scenarios: [
    { value: "check out", count: 3 },
    { value: "ingest", count: 9 },
  ],
  tools: [],
  branches: [],
  tags: [{ value: "nightly", count: 4 }],
  parameters: [
    { value: "pool", count: 7 },
    { value: "rate", count: 2 },
    { value: "odd name", count: 1 },
  ],
  authors: [],
};
const at = (text: string) => tokenAt(text, text.length);
const offered = (text: string, limits: readonly string[] = []) =>
  suggestions(at(text), facets, limits).map((one) => one.text);

describe("the term at the caret", () => {
  it("is told from its neighbours, also within quotes", () => {
    const text = 'scenario:"check out" pool>10';
    expect(tokenAt(text, 14)).toMatchObject({ start: 0, end: 20, name: "scenario", sign: ":", value: '"check out"' });
    expect(tokenAt(text, 28)).toMatchObject({ start: 21, name: "pool", sign: ">", value: "10" });
    expect(tokenAt("a  b", 2)).toMatchObject({ start: 2, end: 2, name: "", sign: "" });
    expect(at('tag:"open quo')).toMatchObject({ start: 0, name: "tag", value: '"open quo' });
  });

  it("is a word that is looked for as it grows, or waits to be whole", () => {
    expect(["", "chec", "x y"].map((text) => isPlain(at(text)))).toEqual([true, true, true]);
    expect(["tag:", "pool>1", "-x", "p95<=3"].map((text) => isPlain(at(text)))).toEqual([false, false, false, false]);
  });
});

describe("completion", () => {
  it("offers keys, parameters and figures by their beginning", () => {
    expect(offered("sc")).toEqual(["scenario:"]);
    expect(offered("po")).toEqual(["pool>"]);
    expect(offered("param")).toEqual(["param.rate>"]);
    expect(offered("-ver")).toEqual(["-verdict:", "-version:"]);
    expect(offered("zzz")).toEqual([]);
    expect(offered("").length).toBeGreaterThan(5);
  });

  it("offers values with how many runs have them, quoted where they need it", () => {
    expect(suggestions(at("scenario:"), facets, [])).toEqual([
      { text: 'scenario:"check out"', isWhole: true, count: 3 },
      { text: "scenario:ingest", isWhole: true, count: 9 },
    ]);
    expect(offered("-tag:night")).toEqual(["-tag:nightly"]);
    expect(offered("limit:pool", ["pool-exhausted"])).toEqual(["limit:pool-exhausted"]);
    expect(offered("verdict:f")).toEqual(["verdict:failed"]);
    expect(offered("pool>")).toEqual([]);
  });

  it("replaces the term alone and goes on behind it", () => {
    const text = "ver pool>1";
    const first = completed(text, tokenAt(text, 3), { text: "verdict:", isWhole: false, count: null });
    expect(first).toEqual({ text: "verdict: pool>1", caret: 8 });
    const whole = completed(first.text, tokenAt(first.text, 8), { text: "verdict:failed", isWhole: true, count: null });
    expect(whole).toEqual({ text: "verdict:failed pool>1", caret: 15 });
    expect(completed("ta", at("ta"), { text: "tag:x", isWhole: true, count: null })).toEqual({
      text: "tag:x ",
      caret: 6,
    });
  });
});

it("quotes what would end early or mean something else", () => {
  expect(["a b", "", 'a"b', "a:b"].map(quoted)).toEqual(['"a b"', '""', '"a\\"b"', "a:b"]);
  expect(["plain", "12:30", "-x", "a>b", "50%_"].map(wordTerm)).toEqual(["plain", '"12:30"', '"-x"', '"a>b"', "50%_"]);
});

it("reads addresses of before, and takes what it does not know as not said", () => {
  const old = new URLSearchParams(
    "q=pool+12%3A30&scenario=check+out&verdict=failed&tag=a&tag=b+c&period=7d&commit=4f1c&state=exploded&author=",
  );
  expect(textOfOld(old)).toBe('scenario:"check out" commit:4f1c verdict:failed since:7d tag:a tag:"b c" pool "12:30"');
  expect(textOfOld(new URLSearchParams("period=1y&sort=p95"))).toBe("");
});
