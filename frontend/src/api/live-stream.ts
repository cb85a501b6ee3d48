/** News of committed samples and of alerts: server-sent events, with the state of the connection. */

export interface SamplesNews {
  readonly newestMs: number;
}

export interface LiveStream {
  /** Connects now, if it waits to connect again. */
  retry(): void;
  close(): void;
}

interface Handlers {
  readonly onSamples: (news: SamplesNews) => void;
  /** Some alert has changed. */
  readonly onAlerts?: () => void;
  readonly onOpen: () => void;
  readonly onLost: () => void;
}

/** A server that is started anew is away for seconds; one that is away for long is not asked all the time. */
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 15_000;
const GROWTH = 1.5;

/** Opens the stream and keeps it open. EventSource gives up on an error status, so the retries are made here. */
export function openLiveStream(handlers: Handlers, make = (url: string) => new EventSource(url)): LiveStream {
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let wait = FIRST_RETRY_MS;
  let closed = false;

  const connect = () => {
    timer = null;
    source = make("/api/live");
    source.onopen = () => {
      wait = FIRST_RETRY_MS;
      handlers.onOpen();
    };
    source.addEventListener("samples", (event) => {
      const news = readNews((event as MessageEvent<string>).data);
      if (news) handlers.onSamples(news);
    });
    source.addEventListener("alerts", () => handlers.onAlerts?.());
    source.onerror = () => {
      source?.close();
      handlers.onLost();
      if (closed) return;
      timer = setTimeout(connect, jittered(wait));
      wait = Math.min(wait * GROWTH, LAST_RETRY_MS);
    };
  };
  const cancel = () => {
    if (timer !== null) clearTimeout(timer);
  };
  connect();
  return {
    retry: () => {
      if (timer === null) return;
      cancel();
      connect();
    },
    close: () => {
      closed = true;
      cancel();
      source?.close();
    },
  };
}

/** All browsers lose the stream at the same moment; they do not come back at the same one. */
function jittered(waitMs: number): number {
  return waitMs * (0.75 + Math.random() / 2);
}

function readNews(text: string): SamplesNews | null {
  try {
    const { newest_ms } = JSON.parse(text) as { newest_ms?: unknown };
    return typeof newest_ms === "number" ? { newestMs: newest_ms } : null;
  } catch {
    return null;
  }
}
