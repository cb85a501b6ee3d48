import { expect, it } from "vitest";
import { MOST_STEPS, stepsOf } from "./expression-steps";

const listed = (expression: string) => stepsOf(expression).map(({ text, depth }) => `${"  ".repeat(depth)}${text}`);

it("lists what has series, each before its parts, and a selector by its matchers", () => {
  expect(listed('sum by (a) (rate(x_total{job="a", code=~"5.."}[5m])) / on (a) (y > 2)')).toEqual([
    'sum by (a) (rate(x_total{job="a", code=~"5.."}[5m])) / on (a) (y > 2)',
    '  sum by (a) (rate(x_total{job="a", code=~"5.."}[5m]))',
    '    rate(x_total{job="a", code=~"5.."}[5m])',
    '      x_total{job="a", code=~"5.."}[5m]',
    "        x_total",
    '        x_total{job="a"}',
    '        x_total{code=~"5.."}',
    "  y > 2",
    "    y",
  ]);
});

it("counts series of a range by their last values, at the time that the expression names", () => {
  const asked = (expression: string) => stepsOf(expression).map(({ question }) => question);
  expect(asked('rate(x{a="b"}[5m] offset 1h)')).toEqual([
    'count(rate(x{a="b"}[5m] offset 1h))',
    'count(last_over_time(x{a="b"}[5m] offset 1h))',
    "count(last_over_time(x[5m] offset 1h))",
  ]);
  expect(asked("max_over_time((up == 1)[10m:1m])").slice(1)).toEqual([
    "count(last_over_time((up == 1)[10m:1m]))",
    "count(up == 1)",
    "count(up)",
  ]);
});

it("leaves out what is one number, but not what it is made of", () => {
  expect(listed("topk(3, x) + scalar(y) * 2")).toEqual(["topk(3, x) + scalar(y) * 2", "  topk(3, x)", "    x", "  y"]);
});

it("asks a bounded number of questions, and none of what is no PromQL", () => {
  expect(stepsOf(Array.from({ length: 40 }, (_, place) => `m${place}`).join(" or "))).toHaveLength(MOST_STEPS);
  expect(listed("x / x")).toEqual(["x / x", "  x"]);
  expect(stepsOf("sum(x{")).toEqual([]);
  expect(stepsOf("")).toEqual([]);
});
