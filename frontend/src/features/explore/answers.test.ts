import { expect, it } from "vitest";
import { linesOf, seriesText, unitOf } from "./answers";

it("writes a series as PromQL does", () => {
  expect(seriesText({ __name__: "up", job: "a", instance: 'q"1' })).toBe('up{instance="q\\"1", job="a"}');
  expect(seriesText({ __name__: "up" })).toBe("up");
  expect(seriesText({})).toBe("");
});

it("puts values in their places, with gaps where there are none or no numbers", () => {
  const answer = {
    startMs: 10_000,
    stepMs: 5000,
    count: 4,
    result: [
      {
        metric: { __name__: "x", job: "a" },
        values: [[10, "1.5"] as const, [20, "NaN"] as const, [25, "+Inf"] as const],
      },
      { metric: {}, values: [[15, "-2e3"] as const] },
    ],
  };
  expect(linesOf(answer, "sum(x)").map(({ name, values }) => ({ name, values }))).toEqual([
    { name: 'x · job="a"', values: [1.5, null, null, null] },
    { name: "sum(x)", values: [null, -2000, null, null] },
  ]);
});

it("guesses the unit by names and functions", () => {
  expect(unitOf("node_memory_bytes")).toBe("bytes");
  expect(unitOf("rate(x_bytes_total[1m])")).toBe("bytes_per_second");
  expect(unitOf("sum(rate(x_total[1m]))")).toBe("per_second");
  expect(unitOf("rate(cpu_seconds_total[1m])")).toBe("count");
  expect(unitOf("histogram_quantile(0.9, rate(x_seconds_bucket[1m]))")).toBe("seconds");
  expect(unitOf("rate(x_seconds_sum[1m]) / rate(x_seconds_count[1m])")).toBe("seconds");
  expect(unitOf("a_bytes / b_bytes")).toBe("count");
  expect(unitOf("count(x_bytes)")).toBe("count");
});
