// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ApiError } from "@/api/client";
import type { Ask, FeedView } from "@/lib/series/live-plan";
import type { Answer } from "@/lib/series/series";
import { lastRange } from "@/lib/time/range";
import { LiveFeed } from "./live-feed";

const LIVE: FeedView = { range: lastRange("5m"), pausedAt: null, filters: {}, lang: "en" };
const CPU = { panel: "cpu", signals: ["cpu"] };
const MEMORY = { panel: "memory", signals: ["memory"] };

function reply(ask: Ask): Answer {
  const stepMs = ask.stepMs ?? 1000;
  const startMs = Math.floor(ask.startMs / (2 * stepMs)) * 2 * stepMs;
  const count = Math.ceil((ask.endMs - startMs) / stepMs);
  const results = ask.panels
    .flatMap(({ signals }) => signals)
    .map((signal) => ({
      signal,
      series: [{ name: signal, labels: {}, values: new Array<number>(count).fill(1) }],
      error: null,
    }));
  const completeMs = Math.floor((ask.endMs - 10_000) / (2 * stepMs)) * 2 * stepMs;
  return { startMs, stepMs, count, reduced: false, completeMs: Math.max(startMs, completeMs), results };
}

let asked: Ask[] = [];
const asks = async (ask: Ask) => {
  asked.push(ask);
  return reply(ask);
};
const panelsOf = (ask: Ask | undefined) => ask?.panels.map(({ panel }) => panel);

beforeEach(() => {
  asked = [];
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 21) });
});
afterEach(() => {
  vi.useRealTimers();
});

it("asks for the screen first, then once for the rest, then for what is new", async () => {
  const feed = new LiveFeed(LIVE, asks);
  feed.setWanted([CPU], [MEMORY]);
  await vi.advanceTimersByTimeAsync(0);
  expect(panelsOf(asked[0])).toEqual(["cpu"]);
  await vi.advanceTimersByTimeAsync(1000);
  expect(asked.flatMap((ask) => panelsOf(ask) ?? [])).toContain("memory");
  const before = asked.length;
  feed.news();
  await vi.advanceTimersByTimeAsync(1000);
  const increment = asked[before];
  expect(panelsOf(increment)).toEqual(["cpu"]);
  expect(increment?.stepMs).toBe(1000);
  expect((increment?.endMs ?? 0) - (increment?.startMs ?? 0)).toBeLessThan(60_000);
  feed.close();
});

it("asks for what the first answer calls for, over the whole range, and goes on with both", async () => {
  const more = (held: Answer | undefined) => (held === undefined ? [] : ["cpu@total"]);
  const feed = new LiveFeed({ ...LIVE, pausedAt: Date.now() }, asks);
  feed.setWanted([{ ...CPU, more }], []);
  await vi.advanceTimersByTimeAsync(1000);
  expect(asked.map((ask) => ask.panels.flatMap(({ signals }) => signals))).toEqual([["cpu"], ["cpu", "cpu@total"]]);
  expect(asked.map(({ stepMs, startMs }) => [stepMs, startMs])).toEqual([
    [null, asked[0]?.startMs],
    [null, asked[0]?.startMs],
  ]);
  expect(
    feed
      .snapshot()
      .answers.get("cpu")
      ?.results.map(({ signal }) => signal),
  ).toEqual(["cpu", "cpu@total"]);
  feed.close();
});

it("asks no faster than the pixels can show", async () => {
  const feed = new LiveFeed({ ...LIVE, range: lastRange("6h") }, asks);
  feed.setWanted([CPU], []);
  await vi.advanceTimersByTimeAsync(0);
  for (let second = 0; second < 20; second += 1) {
    feed.news();
    await vi.advanceTimersByTimeAsync(1000);
  }
  expect(asked.length).toBe(1);
  feed.close();
});

it("asks for nothing while hidden, and at once when it is back", async () => {
  const feed = new LiveFeed(LIVE, asks);
  feed.setWanted([CPU], []);
  await vi.advanceTimersByTimeAsync(0);
  feed.setHidden(true);
  feed.news();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked.length).toBe(1);
  feed.setHidden(false);
  await vi.advanceTimersByTimeAsync(0);
  expect(asked.length).toBe(2);
  feed.close();
});

it("keeps what is drawn when the server goes away, backs off and recovers", async () => {
  let away = false;
  const feed = new LiveFeed(LIVE, (ask) => (away ? Promise.reject(new ApiError(0, "offline", "")) : asks(ask)));
  feed.setWanted([CPU], []);
  await vi.advanceTimersByTimeAsync(0);
  away = true;
  feed.news();
  await vi.advanceTimersByTimeAsync(1000);
  expect(feed.snapshot().error?.code).toBe("offline");
  expect(feed.snapshot().answers.get("cpu")).toBeDefined();
  away = false;
  await vi.advanceTimersByTimeAsync(5000);
  expect(feed.snapshot().error).toBeNull();
  feed.close();
});

it("takes the whole range again when an increment does not fit", async () => {
  let odd = false;
  const feed = new LiveFeed(LIVE, async (ask) => {
    const answer = await asks(ask);
    return odd && ask.stepMs !== null ? { ...answer, stepMs: 2000 } : answer;
  });
  feed.setWanted([CPU], []);
  await vi.advanceTimersByTimeAsync(0);
  odd = true;
  feed.news();
  await vi.advanceTimersByTimeAsync(1500);
  expect(asked.map((ask) => ask.stepMs).slice(0, 3)).toEqual([null, 1000, null]);
  expect(feed.snapshot().answers.get("cpu")?.count).toBeGreaterThan(100);
  feed.close();
});

it("starts anew for another view and drops the answer that is under way", async () => {
  const signals: AbortSignal[] = [];
  const feed = new LiveFeed(LIVE, (ask, _view, signal) => {
    signals.push(signal);
    return asks(ask);
  });
  feed.setWanted([CPU], []);
  await vi.advanceTimersByTimeAsync(0);
  feed.news();
  feed.setView({ ...LIVE, filters: { job: ["app"] } });
  await vi.advanceTimersByTimeAsync(0);
  expect(asked.at(-1)?.stepMs).toBeNull();
  feed.close();
});
