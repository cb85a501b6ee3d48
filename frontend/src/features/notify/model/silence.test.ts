import { describe, expect, it } from "vitest";
import type { Silence } from "@/api/notify/types";
import { HOUR } from "@/lib/time/time";
import { checkSilence, draftOf, isTimeZone, newDraft, nextMorning, presetEnd } from "./silence";

const NOW = Date.UTC(2026, 10, 21, 23, 30, 5, 250);
const DRAFT = {
  ...newDraft([{ name: "severity", operator: "=", value: "page" }], "UTC"),
  comment: " disk is being changed ",
};
const SILENCE: Silence = {
  ...{ id: "s1", matchers: [{ name: "job", operator: "=~", value: "a|b" }], comment: "window", author: "mika" },
  ...{ starts_ms: NOW - HOUR, ends_ms: NOW + HOUR, state: "active", holds_now: false, next_ms: NOW, alerts: 0 },
  ...{ created_ms: NOW - HOUR, updated_ms: NOW - HOUR },
  recurrence: { weekdays: [5, 6], from_time: "22:00", to_time: "06:00", time_zone: "Asia/Tokyo" },
};

function valuesOf(draft: typeof DRAFT) {
  const checked = checkSilence(draft, "utc", NOW);
  if ("problems" in checked) throw new Error(JSON.stringify(checked.problems));
  return checked.values;
}
function problemsOf(part: Partial<typeof DRAFT>) {
  const checked = checkSilence({ ...DRAFT, ...part }, "utc", NOW);
  return "problems" in checked ? checked.problems : {};
}

describe("what is sent", () => {
  it("begins with the second that runs and ends after the preset", () => {
    expect(valuesOf(DRAFT)).toEqual({
      matchers: DRAFT.matchers,
      starts_ms: NOW - 250,
      ends_ms: NOW - 250 + 2 * HOUR,
      comment: "disk is being changed",
      recurrence: null,
    });
  });

  it("leaves out rows that were not filled in, and sorts the days", () => {
    const matchers = [...DRAFT.matchers, { name: " ", operator: "=" as const, value: "" }];
    const values = valuesOf({ ...DRAFT, matchers, recurring: true, weekdays: [6, 0] });
    expect(values.matchers).toHaveLength(1);
    expect(values.recurrence).toEqual({ weekdays: [0, 6], from_time: "22:00", to_time: "06:00", time_zone: "UTC" });
  });

  it("takes an end that was typed in the page's zone", () => {
    const custom = { ...DRAFT, preset: "custom" as const, end: "2026-11-22 01:00:00" };
    expect(valuesOf(custom).ends_ms).toBe(Date.UTC(2026, 10, 22, 1));
  });
});

it("says what is wrong, field by field", () => {
  expect(problemsOf({ matchers: [], comment: " " })).toEqual({ matchers: "needMatcher", comment: "needComment" });
  expect(problemsOf({ matchers: [{ name: "a-b", operator: "=", value: "" }] })).toEqual({ matchers: "badName" });
  expect(problemsOf({ start: "soon" })).toEqual({ start: "needTime" });
  expect(problemsOf({ preset: "custom", end: "2026-11-21 23:00:00" })).toEqual({ end: "needOrder" });
  expect(problemsOf({ start: "2026-11-01 00:00:00" })).toEqual({ end: "over" });
  expect(problemsOf({ recurring: true, weekdays: [], fromTime: "7", timeZone: "Mars/Base" })).toEqual({
    ...{ weekdays: "needDay", times: "needClock", timeZone: "needZone" },
  });
});

it("the morning is nine o'clock of the next day, also over the end of a month", () => {
  expect(nextMorning(NOW, "utc")).toBe(Date.UTC(2026, 10, 22, 9));
  expect(presetEnd("morning", Date.UTC(2026, 10, 30, 8), "utc")).toBe(Date.UTC(2026, 11, 1, 9));
  expect(presetEnd("custom", NOW, "utc")).toBeNull();
});

describe("a draft out of a silence", () => {
  it("changes the very one, with its times", () => {
    const draft = draftOf(SILENCE, false, "utc", "UTC");
    expect(draft).toMatchObject({ id: "s1", preset: "custom", recurring: true, timeZone: "Asia/Tokyo" });
    expect(valuesOf(draft).ends_ms).toBe(Math.floor(SILENCE.ends_ms / 1000) * 1000);
  });

  it("or makes another like it that begins now", () => {
    expect(draftOf(SILENCE, true, "utc", "UTC")).toMatchObject({ id: null, start: "now", comment: "window" });
  });
});

it("knows time zones by name", () => {
  expect(["UTC", "Asia/Tokyo", "Europe/Berlin"].every(isTimeZone)).toBe(true);
  expect(["", "Mars/Base"].some(isTimeZone)).toBe(false);
});
