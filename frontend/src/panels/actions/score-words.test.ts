import { beforeAll, expect, it } from "vitest";
import type { ActionScore } from "@/api/runs/types";
import { i18n, startI18n } from "@/app/i18n";
import { isOverdue, scoreWords } from "./score-words";

beforeAll(() => startI18n("en"));

const score = (part: Partial<ActionScore>): ActionScore => ({
  ...{ action: "a", of_run: "one", of_name: "", run: "two", run_name: "", run_started_ms: 0, scored_ms: 0 },
  ...{ text: "", owner: "", expected: "p95<300ms", state: "held", reason: "", detail: "", detail_ja: "" },
  ...{ unit: "seconds", limit: 0.3, actual: 0.228, before: 0.412, window: "steady", load: null },
  ...part,
});
const words = (part: Partial<ActionScore>) => scoreWords(score(part), i18n.t, "en").join(" · ");

it("says what was measured before and now, and over which window", () => {
  expect(words({})).toBe("412 ms → 228 ms over the steady window");
  expect(words({ window: "60s..120s", before: null })).toBe("– → 228 ms over 60s..120s");
});

it("says why nobody can tell, with both loads", () => {
  const load = { kind: "target-rate", before: 200, now: 100 } as const;
  expect(words({ state: "cannot-tell", reason: "load-lower", window: "whole", load })).toBe(
    "the load was lower · 412 ms → 228 ms over the whole run · target rate 200/s → 100/s",
  );
  const users = { kind: "users", before: 10, now: 20 } as const;
  expect(words({ reason: "not-checked", detail: "go_sql_open_connections", actual: null, load: users })).toBe(
    "what the finding needs was not measured · users 10 → 20 · go_sql_open_connections",
  );
});

it("an open action is overdue from the day after", () => {
  const now = new Date(2026, 11, 1, 0, 5);
  expect(isOverdue({ state: "open", due: "2026-11-30" }, now)).toBe(true);
  expect(isOverdue({ state: "open", due: "2026-12-01" }, now)).toBe(false);
  expect(isOverdue({ state: "done", due: "2026-11-30" }, now)).toBe(false);
  expect(isOverdue({ state: "open" }, now)).toBe(false);
});
