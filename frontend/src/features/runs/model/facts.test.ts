// @vitest-environment jsdom
import { expect, it } from "vitest";
import { FACTS } from "@/api/runs/facts.gen";
import { importParams } from "@/api/runs/upload";
import { EMPTY_FACTS, factRows, factsOf, factsPatch, factsProblems, importFacts, readLinks, readRate } from "./facts";

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
  expect(factsProblems({ ...EMPTY_FACTS, target_rate: "x", links: "y" })).toEqual(["target_rate", "links"]);
});

it("every fact that people type has a place in the form, and in that of an import what an import takes", () => {
  const names = (importing: boolean) =>
    factRows(importing)
      .flat()
      .map(({ name }) => name)
      .sort();
  const typed = FACTS.filter((fact) => fact.typed);
  expect(names(false)).toEqual(typed.map(({ name }) => name).sort());
  expect(names(true)).toEqual(names(false).filter((name) => name !== "author" && name !== "links"));
});

it("only what was changed is sent", () => {
  const threshold = {
    ...{ expression: "p95<300ms", metric: "p95", operator: "<", limit: 0.3, unit: "seconds", actual: null },
    ...({ window: "steady", state: "unknown", detail: "", detail_ja: "" } as const),
  };
  const run = {
    ...{ name: "a", scenario: "s", scenario_version: "1", target_rate: 600, commit: "c", branch: "b", author: "m" },
    ...{ tags: ["x"], links: [{ url: "https://x.test", title: "t" }], thresholds: [threshold] },
  };
  const before = factsOf(run);
  expect(factsPatch(before, before)).toEqual({});
  const after = { ...before, name: " b ", target_rate: "", thresholds: ["p95<200ms"], links: "" };
  expect(factsPatch(before, after)).toEqual({ name: "b", target_rate: null, thresholds: ["p95<200ms"], links: [] });
});

it("an import says what is known and leaves the rest to the file", () => {
  const facts = importFacts({ ...EMPTY_FACTS, scenario: " ingest ", target_rate: "1k", tags: ["a", "b"] });
  expect(facts).toEqual({ scenario: "ingest", target_rate: 1000, tag: ["a", "b"] });
  const params = importParams("a b.csv", facts);
  expect(params.toString()).toBe("filename=a+b.csv&scenario=ingest&target_rate=1000&tag=a&tag=b");
});
