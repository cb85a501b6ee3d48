import { expect, it } from "vitest";
import {
  failures,
  formatChange,
  formatCount,
  formatElapsed,
  formatMeasure,
  formatSuccess,
  relativeChange,
  runTitle,
  shellCommand,
  shortCommit,
} from "./run-text";

it("a share of successes is never rounded to all or to nothing", () => {
  expect([1, 0, 0.892, 0.999999, 0.0000001, null].map(formatSuccess)).toEqual([
    "100%",
    "0%",
    "89.20%",
    "99.99%",
    "0.01%",
    "–",
  ]);
});

it("time since the start reads as on a stopwatch", () => {
  expect([0, 42, 65.3, 125, 3723, 59.99].map(formatElapsed)).toEqual([
    "0:00",
    "0:42",
    "1:05.3",
    "2:05",
    "1:02:03",
    "1:00",
  ]);
});

it("changes are percentages, from threefold on factors, and there are none against nothing", () => {
  expect([0.124, -0.03, 0, 0.0001, 2, 27.4, -1].map(formatChange)).toEqual([
    "+12.4%",
    "−3%",
    "±0%",
    "±0%",
    "×3.0",
    "×28",
    "−100%",
  ]);
  expect(relativeChange(110, 100)).toBeCloseTo(0.1);
  expect(relativeChange(110, 0)).toBeNull();
  expect(relativeChange(null, 5)).toBeNull();
});

it("values carry their unit, also one that only the server knows", () => {
  expect(formatMeasure(0.3, "seconds", "en")).toBe("300 ms");
  expect(formatMeasure(12, "widgets", "en")).toBe("12 widgets");
  expect(formatMeasure(null, "widgets", "en")).toBe("–");
});

it("a run is called by its name, else its scenario, else its id", () => {
  expect(runTitle({ id: "i", name: "n", scenario: "s" })).toBe("n");
  expect(runTitle({ id: "i", name: "", scenario: "s" })).toBe("s");
  expect(runTitle({ id: "i", name: "", scenario: "" })).toBe("i");
});

it("totals are told to the last request", () => {
  expect([0, 999, 18_000, 9_000_000, null].map(formatCount)).toEqual(["0", "999", "18,000", "9,000,000", "–"]);
});

it("hashes are cut, versions are not; commands can be pasted into a shell", () => {
  expect(shortCommit("4f1c2ab9e0d7")).toBe("4f1c2ab");
  expect(shortCommit("v1.12.0-rc1")).toBe("v1.12.0-rc1");
  expect(shellCommand(["sh", "-c", "echo 'a b'"])).toBe("sh -c 'echo '\\''a b'\\'''");
});

it("every outcome but ok is a failure", () => {
  expect(failures({ ok: 10, timeout: 2, http_5xx: 1 })).toBe(3);
});
