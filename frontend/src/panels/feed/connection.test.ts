// @vitest-environment jsdom
import { afterEach, expect, it, vi } from "vitest";
import { openLiveStream, shareLiveStream } from "@/api/live-stream";
import { Connection } from "./connection";

/** As much of an EventSource as the stream uses. */
class Source extends EventTarget {
  onopen: (() => void) | null = null;
  onerror: (() => void) | null = null;
  close(): void {}
}

it("tells of alerts and of samples apart, and works for those who want samples only", () => {
  const source = new Source();
  const heard: string[] = [];
  const handlers = { onSamples: () => heard.push("samples"), onOpen: () => heard.push("open"), onLost: () => {} };
  const make = () => source as unknown as EventSource;
  const stream = openLiveStream({ ...handlers, onAlerts: () => heard.push("alerts") }, make);
  source.onopen?.();
  source.dispatchEvent(new MessageEvent("alerts", { data: "{}" }));
  source.dispatchEvent(new MessageEvent("samples", { data: '{"newest_ms":1}' }));
  stream.close();
  expect(heard).toEqual(["open", "alerts", "samples"]);
  openLiveStream(handlers, make).close();
  source.dispatchEvent(new MessageEvent("alerts", { data: "{}" }));
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A connection whose server went away, and the streams that it has tried to open since. */
function lostConnection() {
  vi.useFakeTimers();
  const tried: Source[] = [];
  vi.stubGlobal("EventSource", function open() {
    const source = new Source();
    tried.push(source);
    return source;
  });
  const connection = new Connection();
  const close = connection.open();
  tried[0]?.onopen?.();
  return { connection, close, tried };
}

it("looks for a server that was started anew several times within the seconds that it takes", () => {
  const { tried, close } = lostConnection();
  tried[0]?.onerror?.();
  for (let ms = 0; ms < 5000; ms += 100) {
    const before = tried.length;
    vi.advanceTimersByTime(100);
    if (tried.length > before) tried.at(-1)?.onerror?.();
  }
  expect(tried.length).toBeGreaterThan(4);
  close();
});

it("opens the stream as soon as the server answers anything, however long it was away", () => {
  const { connection, tried, close } = lostConnection();
  for (let ms = 0; ms < 120_000; ms += 100) {
    const before = tried.length;
    vi.advanceTimersByTime(100);
    if (ms === 0 || tried.length > before) tried.at(-1)?.onerror?.();
  }
  connection.setStatus(null);
  const before = tried.length;
  connection.setStatus({ newest_sample_ms: 1 });
  expect(tried.length).toBe(before + 1);
  // It is being opened: another answer opens no second one.
  connection.setStatus({ newest_sample_ms: 2 });
  expect(tried.length).toBe(before + 1);
  tried.at(-1)?.onopen?.();
  expect(connection.snapshot().line).toBe("stream");
  close();
});

it("says that the server is away until it answers, whatever the stream tries meanwhile", () => {
  const { connection, tried, close } = lostConnection();
  tried.at(-1)?.onerror?.();
  expect(connection.snapshot().line).toBe("polling");
  connection.setStatus(null);
  const before = tried.length;
  vi.advanceTimersByTime(10_000);
  expect(tried.length).toBeGreaterThan(before);
  tried.at(-1)?.onerror?.();
  expect(connection.snapshot().line).toBe("away");
  connection.setStatus({ newest_sample_ms: 1 });
  expect(connection.snapshot().line).toBe("polling");
  close();
});

/** Locks and channels of one browser, as far as the stream uses them. */
function browser() {
  const opened: Source[] = [];
  vi.stubGlobal("EventSource", function open() {
    const source = Object.assign(new Source(), { closed: false });
    source.close = () => {
      source.closed = true;
    };
    opened.push(source);
    return source;
  });
  const channels = new Set<{ onmessage: ((event: { data: unknown }) => void) | null }>();
  class Channel {
    onmessage: ((event: { data: unknown }) => void) | null = null;
    constructor() {
      channels.add(this);
    }
    postMessage(data: unknown): void {
      for (const other of channels) if (other !== this) other.onmessage?.({ data });
    }
    close(): void {
      channels.delete(this);
    }
  }
  vi.stubGlobal("BroadcastChannel", Channel);
  const queue: (() => Promise<void>)[] = [];
  let held = false;
  const next = () => {
    const hold = held ? undefined : queue.shift();
    if (!hold) return;
    held = true;
    void hold().then(() => {
      held = false;
      next();
    });
  };
  const request = (_name: string, { signal }: { signal: AbortSignal }, hold: () => Promise<void>) => {
    queue.push(hold);
    signal.addEventListener("abort", () => queue.splice(queue.indexOf(hold), 1));
    next();
    return Promise.resolve();
  };
  vi.stubGlobal("navigator", { locks: { request } });
  const tab = (name: string, heard: string[]) =>
    shareLiveStream({
      onSamples: () => heard.push(`${name} samples`),
      onOpen: () => heard.push(`${name} open`),
      onLost: () => heard.push(`${name} lost`),
      onAlerts: () => heard.push(`${name} alerts`),
    });
  const streams = () => opened.filter((one) => !(one as { closed?: boolean }).closed);
  return { tab, streams };
}

it("is one stream for all tabs, and another tab takes it over", async () => {
  const { tab, streams } = browser();
  const heard: string[] = [];
  const first = tab("a", heard);
  expect(streams()).toHaveLength(1);
  streams()[0]?.onopen?.();
  const second = tab("b", heard);
  const third = tab("c", heard);
  expect(streams()).toHaveLength(1);
  expect(heard).toEqual(["a open", "b open", "c open"]);
  streams()[0]?.dispatchEvent(new MessageEvent("samples", { data: '{"newest_ms":1}' }));
  expect(heard.slice(3).sort()).toEqual(["a samples", "b samples", "c samples"]);
  first.close();
  await vi.waitFor(() => expect(streams()).toHaveLength(1));
  heard.length = 0;
  streams()[0]?.onopen?.();
  expect(heard.sort()).toEqual(["b open", "c open"]);
  second.close();
  third.close();
  expect(streams()).toHaveLength(0);
});

it("is left by a page that is kept for going back, and by one that nobody sees", async () => {
  const { tab, streams } = browser();
  vi.useFakeTimers();
  const heard: string[] = [];
  const only = tab("a", heard);
  globalThis.dispatchEvent(new Event("pagehide"));
  expect(streams()).toHaveLength(0);
  globalThis.dispatchEvent(Object.assign(new Event("pageshow"), { persisted: true }));
  await vi.waitFor(() => expect(streams()).toHaveLength(1));
  const before = streams()[0];
  vi.spyOn(document, "visibilityState", "get").mockReturnValue("hidden");
  document.dispatchEvent(new Event("visibilitychange"));
  await vi.advanceTimersByTimeAsync(6000);
  // Nobody else wants it: it has a new one.
  expect(streams()).toHaveLength(1);
  expect(streams()[0]).not.toBe(before);
  only.close();
  vi.restoreAllMocks();
});
