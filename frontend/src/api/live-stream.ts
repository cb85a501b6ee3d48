/** News of committed samples and of alerts: server-sent events, with the state of the connection. */

export interface SamplesNews {
  readonly newestMs: number;
}

export interface LiveStream {
  close(): void;
}

interface Handlers {
  readonly onSamples: (news: SamplesNews) => void;
  /** Some alert has changed. */
  readonly onAlerts?: () => void;
  readonly onOpen: () => void;
  readonly onLost: () => void;
}

const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 15_000;

/** Opens the stream and keeps it open. EventSource gives up on an error status, so the retries are made here. */
export function openLiveStream(handlers: Handlers, make = (url: string) => new EventSource(url)): LiveStream {
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let retry = FIRST_RETRY_MS;
  let closed = false;

  const connect = () => {
    source = make("/api/live");
    source.onopen = () => {
      retry = FIRST_RETRY_MS;
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
      timer = setTimeout(connect, retry);
      retry = Math.min(retry * 2, LAST_RETRY_MS);
    };
  };
  connect();
  return {
    close: () => {
      closed = true;
      clearTimeout(timer);
      source?.close();
    },
  };
}

function readNews(text: string): SamplesNews | null {
  try {
    const { newest_ms } = JSON.parse(text) as { newest_ms?: unknown };
    return typeof newest_ms === "number" ? { newestMs: newest_ms } : null;
  } catch {
    return null;
  }
}
