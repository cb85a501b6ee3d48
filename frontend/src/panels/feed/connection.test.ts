import { afterEach, expect, it, vi } from "vitest";
import { openLiveStream } from "@/api/live-stream";
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
