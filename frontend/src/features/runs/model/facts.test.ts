import { expect, it } from "vitest";
import { importParams } from "@/api/runs/upload";
import { EMPTY_FACTS, factsOf, factsPatch, factsProblems, importFacts, readLinks, readRate } from "./facts";

it("rates are read as people write them", () => {
  expect(["600", " 1.5k ", "2M", "450/s", "300 rps", "", "fast", "-3"].map(readRate)).toEqual([
    ...[600, 1500, 2e6, 450, 300, null, undefined, undefined],
  ]);
});

it("a link is an address with its title behind it", () => {
  expect(readLinks("https://x.test/1 Issue 1\n\n http://y.test")).toEqual([
    { url: "https://x.test/1", title: "Issue 1" },
    { url: "http://y.test", title: "" },
  ]);
  expect(readLinks("javascript:alert(1)")).toBeUndefined();
  expect(factsProblems({ ...EMPTY_FACTS, targetRate: "x", links: "y" })).toEqual(["targetRate", "links"]);
});

it("only what was changed is sent", () => {
  const run = {
    ...{ name: "a", scenario: "s", scenario_version: "1", target_rate: 600, commit: "c", branch: "b", author: "m" },
    ...{ tags: ["x"], links: [{ url: "https://x.test", title: "t" }], thresholds: [{ expression: "p95<300ms" }] },
  };
  const before = factsOf(run);
  expect(factsPatch(before, before)).toEqual({});
  const after = { ...before, name: " b ", targetRate: "", thresholds: ["p95<200ms"], links: "" };
  expect(factsPatch(before, after)).toEqual({ name: "b", target_rate: null, thresholds: ["p95<200ms"], links: [] });
});

it("an import says what is known and leaves the rest to the file", () => {
  const facts = importFacts({ ...EMPTY_FACTS, scenario: " ingest ", targetRate: "1k", tags: ["a", "b"] });
  expect(facts).toEqual({ scenario: "ingest", target_rate: 1000, tags: ["a", "b"] });
  const params = importParams("a b.csv", facts);
  expect(params.toString()).toBe("filename=a+b.csv&scenario=ingest&target_rate=1000&tag=a&tag=b");
});
