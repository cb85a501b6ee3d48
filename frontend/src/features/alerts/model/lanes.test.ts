import { expect, it } from "vitest";
import { alert } from "@/testing/alert-fixtures";
import { fitRange, layOutLanes, rangeBetween } from "./lanes";

const RANGE = { startMs: 0, endMs: 100_000 };

it("draws each alert from its first firing to its end, cut at the edges of the range", () => {
  const lanes = layOutLanes(
    [
      alert("a", { fired_ms: 20_000, resolved_ms: 40_000 }),
      alert("before", { fired_ms: -5000, resolved_ms: 10_000 }),
      alert("open", { fired_ms: 90_000, resolved_ms: null }),
    ],
    RANGE,
  );
  const [lane] = lanes;
  expect(lanes).toHaveLength(1);
  expect(lane?.rows).toBe(1);
  expect(lane?.spans.map(({ alert: one, left, width, open }) => [one.id, left, width, open])).toEqual([
    ["before", 0, 10, false],
    ["a", 20, 20, false],
    ["open", 90, 10, true],
  ]);
});

it("puts alerts of one name that overlap into rows of their own, and counts those beyond the last row", () => {
  const same = (id: string) => alert(id, { fired_ms: 10_000, resolved_ms: 20_000 });
  const [two] = layOutLanes([same("a"), same("b")], RANGE);
  expect(two?.spans.map(({ row }) => row)).toEqual([0, 1]);
  const [many] = layOutLanes(["a", "b", "c", "d", "e", "f", "g", "h"].map(same), RANGE);
  expect(many?.spans).toHaveLength(6);
  expect(many?.more).toBe(2);
});

it("keeps the shortest alert wide enough to press, also at the right edge", () => {
  const [lane] = layOutLanes([alert("a", { fired_ms: 100_000, resolved_ms: 100_001 })], RANGE);
  const [span] = lane?.spans ?? [];
  expect(span?.width).toBeGreaterThanOrEqual(0.399);
  expect((span?.left ?? 0) + (span?.width ?? 0)).toBeLessThanOrEqual(100.001);
});

it("orders lanes by the gravest alert in them, then by the last", () => {
  const lanes = layOutLanes(
    [
      alert("a", { name: "Info", severity: "info", fired_ms: 50_000 }),
      alert("b", { name: "Old", severity: "critical", fired_ms: 1000 }),
      alert("c", { name: "New", severity: "critical", fired_ms: 9000 }),
    ],
    RANGE,
  );
  expect(lanes.map(({ name }) => name)).toEqual(["New", "Old", "Info"]);
});

it("turns a drag in either direction into a range of at least a second", () => {
  expect(rangeBetween(RANGE, 0.6, 0.2)).toEqual({ startMs: 20_000, endMs: 60_000 });
  expect(rangeBetween(RANGE, 0.5, 0.5)).toEqual({ startMs: 50_000, endMs: 51_000 });
  expect(rangeBetween(RANGE, -1, 2)).toEqual(RANGE);
});

it("draws an incident as one span, from its first alert to the end of its last, as grave as the gravest", () => {
  const mark = { id: "i", head: "head" };
  const lanes = layOutLanes(
    [
      alert("late", { name: "Late", severity: "critical", fired_ms: 30_000, resolved_ms: 60_000, incident: mark }),
      alert("head", { name: "Cause", fired_ms: 20_000, resolved_ms: 40_000, incident: mark }),
    ],
    RANGE,
  );
  expect(lanes.map(({ name }) => name)).toEqual(["Cause"]);
  expect(lanes[0]?.spans[0]).toMatchObject({ others: 1, left: 20, width: 40, gravity: "critical", open: false });
});

it("fits the range to what is there, ten minutes at least, and never beyond what was asked", () => {
  const minute = 60_000;
  const day = { startMs: 0, endMs: 1440 * minute };
  const at = (fired: number, resolved: number | null) =>
    alert("a", { fired_ms: fired * minute, resolved_ms: resolved === null ? null : resolved * minute });
  expect(fitRange([at(100, 200)], day)).toEqual({ startMs: 95 * minute, endMs: 205 * minute });
  expect(fitRange([at(100, 101)], day).startMs).toBeCloseTo(91.05 * minute);
  expect(fitRange([at(1340, null)], day)).toEqual({ startMs: 1335 * minute, endMs: 1440 * minute });
  expect(fitRange([at(-50, 2)], day).startMs).toBe(0);
  expect(fitRange([], day)).toBe(day);
});
