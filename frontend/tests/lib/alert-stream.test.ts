import { expect, it } from "vitest";
import { openLiveStream } from "@/api/live-stream";

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
