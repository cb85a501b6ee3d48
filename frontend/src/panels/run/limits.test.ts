import { expect, it } from "vitest";
import type { ResourceReached } from "@/api/runs/types";
import { finding } from "@/testing/finding-fixtures";
import { limitsInOrder } from "./limits";

const reached = (instance: string, ratio_max: number, first_full_ms: number | null, interval_ms?: number) =>
  ({ labels: { instance }, ratio_max, first_full_ms, interval_ms }) as unknown as ResourceReached;
const accused = (...instances: string[]) =>
  instances.map((instance) => finding(instance, { labels: { job: "app", instance }, severity: "critical" }));
const order = (limits: readonly ResourceReached[], findings = accused("pool", "late")) =>
  limitsInOrder(limits, findings).map(({ one, place }) => [one.labels.instance, place]);

it("puts what did harm in the order in which it was full, then what was full, then the fullest of the others", () => {
  const limits = [
    reached("fds", 0.3, null),
    reached("late", 1.2, 1900),
    reached("cpu", 1, 0),
    // Full for a moment only.
    reached("spike", 1, null),
    reached("pool", 1, 100),
  ];
  expect(order(limits)).toEqual([
    ["pool", 1],
    ["late", 2],
    ["cpu", null],
    ["spike", null],
    ["fds", null],
  ]);
  // Notes and what people have muted accuse nothing.
  const quiet = accused("pool", "late").map((one) => ({ ...one, muted: true }));
  expect(order(limits, quiet).every(([, place]) => place === null)).toBe(true);
});

it("gives one place to times that are closer than samples come", () => {
  const places = (...limits: ResourceReached[]) => order(limits, accused("a", "b", "c")).map(([, place]) => place);
  expect(places(reached("a", 1, 0), reached("b", 1, 999), reached("c", 1, 2000))).toEqual([1, 1, 3]);
  expect(places(reached("a", 1, 0), reached("b", 1, 50_000, 60_000))).toEqual([1, 1]);
});

it("counts all instances of a fleet as accused", () => {
  const fleet = finding("pool", { labels: { job: "app" }, instances: ["web-7", "web-1"] });
  expect(order([reached("web-1", 1, 3000), reached("web-7", 1, 3000), reached("web-2", 1, 3000)], [fleet])).toEqual([
    ["web-1", 1],
    ["web-7", 1],
    ["web-2", null],
  ]);
});

it("tells things of one host apart", () => {
  const queue = finding("queue", { labels: { job: "host", instance: "h", port: "80" }, severity: "critical" });
  expect(order([reached("h", 1, 0)], [queue])).toEqual([["h", null]]);
  const other = finding("cpu", { labels: { job: "host", instance: "h" }, severity: "critical" });
  expect(order([reached("h", 1, 0)], [other])).toEqual([["h", 1]]);
});
