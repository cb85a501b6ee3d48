/** A silence while it is being written. Pure: the present and the zone are arguments. */
import type { components } from "@/api/schema.gen";
import { readTime, writeTime } from "@/lib/time/input";
import { resolvePoint } from "@/lib/time/range";
import { DAY, HOUR, MINUTE, SECOND, type TimeZone, timeParts } from "@/lib/time/time";
import { isLabelName, type Matcher } from "./matchers";

type Silence = components["schemas"]["SilenceOut"];
type SilenceInput = components["schemas"]["SilenceIn"];

export const PRESETS = ["30m", "1h", "2h", "8h", "morning", "7d", "custom"] as const;
export type Preset = (typeof PRESETS)[number];

const SPANS: Readonly<Partial<Record<Preset, number>>> = {
  "30m": 30 * MINUTE,
  "1h": HOUR,
  "2h": 2 * HOUR,
  "8h": 8 * HOUR,
  "7d": 7 * DAY,
};

export interface SilenceDraft {
  /** The silence that is being changed; null for a new one. */
  readonly id: string | null;
  readonly matchers: readonly Matcher[];
  /** `now` or a date and time. */
  readonly start: string;
  readonly preset: Preset;
  /** A date and time; read with the preset `custom` only. */
  readonly end: string;
  readonly recurring: boolean;
  /** 0 is Monday. */
  readonly weekdays: readonly number[];
  readonly fromTime: string;
  readonly toTime: string;
  readonly timeZone: string;
  readonly comment: string;
}

export type SilenceField = "matchers" | "start" | "end" | "weekdays" | "times" | "timeZone" | "comment";
export type SilenceProblem =
  | "needMatcher"
  | "badName"
  | "needTime"
  | "needOrder"
  | "over"
  | "needDay"
  | "needClock"
  | "needZone"
  | "needComment";
export type SilenceProblems = Readonly<Partial<Record<SilenceField, SilenceProblem>>>;

export const EVERY_DAY = [0, 1, 2, 3, 4, 5, 6] as const;

export function newDraft(matchers: readonly Matcher[], timeZone: string): SilenceDraft {
  return {
    id: null,
    matchers: matchers.length > 0 ? matchers : [{ name: "", operator: "=", value: "" }],
    ...{ start: "now", preset: "2h", end: "", comment: "" },
    ...{ recurring: false, weekdays: EVERY_DAY, fromTime: "22:00", toTime: "06:00", timeZone },
  };
}

/** A draft out of a silence: to change it, or (`copy`) to make another like it that begins now. */
export function draftOf(silence: Silence, copy: boolean, zone: TimeZone, timeZone: string): SilenceDraft {
  const fresh = newDraft(silence.matchers, timeZone);
  const often = silence.recurrence;
  return {
    ...fresh,
    comment: silence.comment,
    ...(!copy && {
      id: silence.id,
      start: writeTime(silence.starts_ms, zone),
      preset: "custom" as const,
      end: writeTime(silence.ends_ms, zone),
    }),
    ...(often && {
      recurring: true,
      weekdays: often.weekdays ?? EVERY_DAY,
      fromTime: often.from_time,
      toTime: often.to_time,
      timeZone: often.time_zone ?? timeZone,
      ...(copy && { preset: "7d" as const }),
    }),
  };
}

/** The end that a preset means for a start; null for `custom`. */
export function presetEnd(preset: Preset, startMs: number, zone: TimeZone): number | null {
  if (preset === "custom") return null;
  if (preset === "morning") return nextMorning(startMs, zone);
  return startMs + (SPANS[preset] ?? HOUR);
}

/** Nine o'clock of the day after `ms`. */
export function nextMorning(ms: number, zone: TimeZone): number {
  const { year, month, day } = timeParts(ms, zone);
  return zone === "utc" ? Date.UTC(year, month - 1, day + 1, 9) : new Date(year, month - 1, day + 1, 9).getTime();
}

export function filledMatchers(matchers: readonly Matcher[]): readonly Matcher[] {
  return matchers.filter(({ name, value }) => name.trim() !== "" || value !== "");
}

/** What is to be sent, or what is wrong with it, field by field. */
export function checkSilence(
  draft: SilenceDraft,
  zone: TimeZone,
  nowMs: number,
): { readonly values: SilenceInput } | { readonly problems: SilenceProblems } {
  const problems: Partial<Record<SilenceField, SilenceProblem>> = {};
  const matchers = filledMatchers(draft.matchers).map((one) => ({ ...one, name: one.name.trim() }));
  if (matchers.length === 0) problems.matchers = "needMatcher";
  else if (!matchers.every(({ name }) => isLabelName(name))) problems.matchers = "badName";
  const start = timeOf(draft.start, zone, nowMs);
  if (start === null) problems.start = "needTime";
  const end =
    draft.preset === "custom" ? timeOf(draft.end, zone, nowMs) : presetEnd(draft.preset, start ?? nowMs, zone);
  if (end === null) problems.end = "needTime";
  else if (start !== null && end <= start) problems.end = "needOrder";
  else if (end <= nowMs) problems.end = "over";
  if (draft.recurring) Object.assign(problems, checkRecurrence(draft));
  const comment = draft.comment.trim();
  if (comment === "") problems.comment = "needComment";
  if (start === null || end === null || Object.keys(problems).length > 0) return { problems };
  const recurrence = draft.recurring
    ? {
        weekdays: [...draft.weekdays].sort((a, b) => a - b),
        from_time: draft.fromTime,
        to_time: draft.toTime,
        time_zone: draft.timeZone,
      }
    : null;
  return { values: { matchers, starts_ms: start, ends_ms: end, comment, recurrence } };
}

function checkRecurrence(draft: SilenceDraft): SilenceProblems {
  const problems: Partial<Record<SilenceField, SilenceProblem>> = {};
  const clock = /^([01]\d|2[0-3]):[0-5]\d$/;
  if (draft.weekdays.length === 0) problems.weekdays = "needDay";
  if (!clock.test(draft.fromTime) || !(clock.test(draft.toTime) || draft.toTime === "24:00"))
    problems.times = "needClock";
  if (!isTimeZone(draft.timeZone)) problems.timeZone = "needZone";
  return problems;
}

function timeOf(text: string, zone: TimeZone, nowMs: number): number | null {
  const point = readTime(text, zone);
  return point === null ? null : Math.floor(resolvePoint(point, nowMs) / SECOND) * SECOND;
}

export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return name !== "";
  } catch {
    return false;
  }
}
