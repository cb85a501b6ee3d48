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

type Message =
  | { readonly kind: "open" | "lost" | "alerts" | "hello" | "retry" }
  | { readonly kind: "welcome"; readonly to: string }
  | { readonly kind: "samples"; readonly news: SamplesNews };

const SHARED = "loadwatch-live";
/** A tab that nobody has seen for so long gives the stream to another one. */
const HIDDEN_MS = 5000;

/**
 * One stream for all tabs of a browser, which opens six connections to a server and no more.
 *
 * The tab that holds the lock has it and tells the others. A page that is kept for "back" holds nothing. Without locks
 * (a browser has them for HTTPS and for this machine only) each tab that is seen has a stream of its own.
 */
export function shareLiveStream(handlers: Handlers): LiveStream {
  const locks = (navigator as { locks?: LockManager }).locks;
  const me = String(Math.random());
  let channel: BroadcastChannel | null = null;
  let own: LiveStream | null = null;
  let isOpen = false;
  let release: (() => void) | null = null;
  let waiting: AbortController | null = null;
  let hidden: ReturnType<typeof setTimeout> | null = null;

  const hear = (message: Message) => {
    if (message.kind === "open" || (message.kind === "welcome" && message.to === me)) handlers.onOpen();
    else if (message.kind === "lost") handlers.onLost();
    else if (message.kind === "alerts") handlers.onAlerts?.();
    else if (message.kind === "samples") handlers.onSamples(message.news);
    else if (message.kind === "retry") own?.retry();
  };
  const tell = (message: Message) => {
    if (message.kind === "open" || message.kind === "lost") isOpen = message.kind === "open";
    if (locks) channel?.postMessage(message);
    hear(message);
  };
  const lead = () => {
    own = openLiveStream({
      onOpen: () => tell({ kind: "open" }),
      onLost: () => tell({ kind: "lost" }),
      onAlerts: () => tell({ kind: "alerts" }),
      onSamples: (news) => tell({ kind: "samples", news }),
    });
  };
  const join = () => {
    if (own || waiting) return;
    if (!locks) {
      lead();
      return;
    }
    waiting = new AbortController();
    const hold = () =>
      new Promise<void>((done) => {
        waiting = null;
        release = done;
        lead();
      });
    // Whoever ends the wait does not want to hear of it.
    locks.request(SHARED, { signal: waiting.signal }, hold).catch(() => undefined);
  };
  const leave = () => {
    own?.close();
    own = null;
    isOpen = false;
    release?.();
    release = null;
  };
  const start = () => {
    if (locks) {
      channel = new BroadcastChannel(SHARED);
      channel.onmessage = (event: MessageEvent<Message & { from?: string }>) => {
        if (event.data.kind !== "hello") hear(event.data);
        else if (isOpen && event.data.from) channel?.postMessage({ kind: "welcome", to: event.data.from });
      };
      channel.postMessage({ kind: "hello", from: me });
    }
    join();
  };
  const stop = () => {
    waiting?.abort();
    waiting = null;
    leave();
    channel?.close();
    channel = null;
  };
  const onVisibility = () => {
    if (hidden !== null) clearTimeout(hidden);
    hidden = null;
    if (document.visibilityState === "visible") join();
    else
      hidden = setTimeout(() => {
        if (!own) return;
        leave();
        // The last one in the queue: where no other tab is open it has the stream again.
        if (locks) join();
        else handlers.onLost();
      }, HIDDEN_MS);
  };
  const onShow = (event: PageTransitionEvent) => {
    if (event.persisted) start();
  };
  document.addEventListener("visibilitychange", onVisibility);
  globalThis.addEventListener("pagehide", stop);
  globalThis.addEventListener("pageshow", onShow);
  start();
  return {
    retry: () => {
      if (own) own.retry();
      else channel?.postMessage({ kind: "retry" });
    },
    close: () => {
      document.removeEventListener("visibilitychange", onVisibility);
      globalThis.removeEventListener("pagehide", stop);
      globalThis.removeEventListener("pageshow", onShow);
      if (hidden !== null) clearTimeout(hidden);
      stop();
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
