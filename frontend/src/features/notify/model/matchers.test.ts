import { describe, expect, it } from "vitest";
import { formatLabels, formatMatcher, parseLabels, parseMatcher } from "./matchers";

describe("a matcher as text", () => {
  it.each([
    ["severity=page", { name: "severity", operator: "=", value: "page" }],
    [' run =~ ".+" ', { name: "run", operator: "=~", value: ".+" }],
    ['job!="a=b"', { name: "job", operator: "!=", value: "a=b" }],
    ["job!~x|y", { name: "job", operator: "!~", value: "x|y" }],
    ['summary="a \\"b\\" \\\\ \\n"', { name: "summary", operator: "=", value: 'a "b" \\ \n' }],
    ["team=", { name: "team", operator: "=", value: "" }],
  ] as const)("%s", (text, matcher) => {
    expect(parseMatcher(text)).toEqual(matcher);
    expect(parseMatcher(formatMatcher(matcher))).toEqual(matcher);
  });

  it("is nothing without name, operator or closing quote", () => {
    for (const text of ["", "severity", "=x", "1a=b", 'a="b', "a-b=c"]) expect(parseMatcher(text)).toBeNull();
  });
});

describe("labels as text", () => {
  it("are a line each, or pasted from Prometheus", () => {
    const { labels, problems } = parseLabels('alertname=Pool = full\n\n{job="app", path="C:\\\\x"}\nseverity="page"');
    expect(labels).toEqual({ alertname: "Pool = full", job: "app", path: "C:\\x", severity: "page" });
    expect(problems).toEqual([]);
  });

  it("say which lines are none", () => {
    expect(parseLabels("page\na=b\n=c\nx y=z")).toEqual({ labels: { a: "b" }, problems: ["page", "=c", "x y=z"] });
  });

  it("come back as they were", () => {
    const labels = { a: 'with "quotes"', b: "two\nlines", c: "plain, with = and {}", d: "" };
    expect(parseLabels(formatLabels(labels))).toEqual({ labels, problems: [] });
  });
});
