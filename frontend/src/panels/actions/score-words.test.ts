// @vitest-environment jsdom
import { beforeAll, expect, it } from "vitest";
import type { ActionScore } from "@/api/runs/types";
import { i18n, startI18n } from "@/app/i18n";
import { isOverdue, scoreWords } from "./score-words";

beforeAll(() => startI18n("en"));

const score = (part: Partial<ActionScore>): ActionScore => ({
  ...{ action: "a", of_run: "one", of_name: "", run: "two", run_name: "", run_started_ms: 0, scored_ms: 0 },
  ...{ text: "", owner: "", expected: "p95<300ms", state: "met", detail: "", detail_ja: "" },
  ...{ unit: "seconds", limit: 0.3, actual: 0.228, window: "steady" },
  ...part,
});
const words = (part: Partial<ActionScore>) => scoreWords(score(part), i18n.t, "en").join(" · ");

it("says what was measured, and over which window", () => {
  expect(words({})).toBe("228 ms over the steady window");
  expect(words({ window: "60s..120s", detail: "The worst of 2." })).toBe("228 ms over 60s..120s · The worst of 2.");
});

it("says why nothing was measured", () => {
  expect(words({ state: "not-measured", actual: null, detail: "the run was aborted" })).toBe("the run was aborted");
});

it("an open action is overdue from the day after", () => {
  const now = new Date(2026, 11, 1, 0, 5);
  expect(isOverdue({ state: "open", due: "2026-11-30" }, now)).toBe(true);
  expect(isOverdue({ state: "open", due: "2026-12-01" }, now)).toBe(false);
  expect(isOverdue({ state: "done", due: "2026-11-30" }, now)).toBe(false);
  expect(isOverdue({ state: "open" }, now)).toBe(false);
});
