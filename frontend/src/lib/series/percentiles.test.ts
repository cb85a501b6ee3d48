import { expect, it } from "vitest";
import { addedPercentiles, decodePercentiles, encodePercentiles, parsePercentile } from "./percentiles";

it.each([
  ["p70", "p70"],
  ["99.90", "p99.9"],
  [" P05 ", "p5"],
  ["p100", null],
  ["p0", null],
  ["max", null],
  ["p70; drop", null],
])("reads %s as %s", (text, name) => {
  expect(parsePercentile(text)).toBe(name);
});

it("adds each once, none of the usual ones, by rank, and no more than the server reads", () => {
  expect(addedPercentiles(["p99.9", "p95", "70", "p70.0", "x"])).toEqual(["p70", "p99.9"]);
  expect(addedPercentiles(Array.from({ length: 20 }, (_, place) => `p${place + 1}`))).toHaveLength(8);
});

it("survives the address beside what else is in it", () => {
  const params = encodePercentiles(["p99.9", "p70"], new URLSearchParams("tz=utc&percentile=p80"));
  expect(params.get("tz")).toBe("utc");
  expect(decodePercentiles(params)).toEqual(["p70", "p99.9"]);
});
