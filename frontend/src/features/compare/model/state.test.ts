import { expect, it } from "vitest";
import { type CompareState, decodeCompare, encodeCompare, withBase } from "./state";

const state: CompareState = {
  runs: ["a1-1", "b2-2", "c3-3"],
  align: "steady",
  hidden: ["b2-2"],
  zoom: { from: -5.5, to: 30 },
  detail: true,
  changedOnly: true,
  percentiles: ["p70", "p99.9"],
  measure: "p70",
  sort: { column: 2, delta: true, descending: true },
};

it("survives the address, with what else is in it", () => {
  const params = encodeCompare(state, new URLSearchParams("tz=utc&run=old"));
  expect(params.get("tz")).toBe("utc");
  expect(params.getAll("run")).toEqual(["a1-1", "b2-2", "c3-3"]);
  expect(decodeCompare(params)).toEqual(state);
});

it("keeps plain addresses short", () => {
  const plain = decodeCompare(new URLSearchParams("run=a1-1&run=b2-2"));
  expect(encodeCompare(plain, new URLSearchParams()).toString()).toBe("run=a1-1&run=b2-2");
});

it("ignores what it cannot read, doubles, and more runs than can be compared", () => {
  const many = Array.from({ length: 12 }, (_, place) => `run=run-${place}`).join("&");
  const read = decodeCompare(new URLSearchParams(`run=../x&${many}&run=run-0&hide=zzz&zoom=9_3&sort=up&measure=no`));
  expect(read.runs).toHaveLength(8);
  expect(read.runs[0]).toBe("run-0");
  expect(read).toMatchObject({ hidden: [], zoom: null, measure: "p95", sort: { column: 0, descending: true } });
});

it("shows a percentile of endpoints only while the address adds it", () => {
  expect(decodeCompare(new URLSearchParams("percentile=p70&measure=p70")).measure).toBe("p70");
  expect(decodeCompare(new URLSearchParams("measure=p70")).measure).toBe("p95");
  expect(encodeCompare({ ...state, percentiles: [] }, new URLSearchParams()).has("measure")).toBe(false);
});

it("moves the base's runs to the front in their order", () => {
  expect(withBase(["a", "b", "c", "d"], ["c", "b"])).toEqual(["c", "b", "a", "d"]);
});
