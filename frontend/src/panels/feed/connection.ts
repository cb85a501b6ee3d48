/** The state of the line to the server, for the header and for everything that waits for new samples. */
import { type LiveStream, shareLiveStream } from "@/api/live-stream";

export type Line = "connecting" | "stream" | "polling" | "away";

export interface ConnectionState {
  readonly line: Line;
  /** Time of the newest sample that the server has, by its clock; null while unknown. */
  readonly newestMs: number | null;
  /** Whether the server has said so: before, that there is none is not known. */
  readonly told: boolean;
}

/** With the stream lost, the page asks once a second by itself. */
const POLL_MS = 1000;

export class Connection {
  private state: ConnectionState = { line: "connecting", newestMs: null, told: false };
  private stream: LiveStream | null = null;
  private readonly listeners = new Set<() => void>();
  private readonly samples = new Set<() => void>();
  private readonly alerts = new Set<() => void>();

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly snapshot = (): ConnectionState => this.state;

  /** Called whenever there may be new samples. */
  onSamples(listener: () => void): () => void {
    this.samples.add(listener);
    return () => this.samples.delete(listener);
  }

  /** Called when an alert has changed, and after a gap in which one may have. */
  onAlerts(listener: () => void): () => void {
    this.alerts.add(listener);
    return () => this.alerts.delete(listener);
  }

  /** An answer of the status endpoint; null when it failed. A server that answers has the stream again, too. */
  setStatus(status: { readonly newest_sample_ms: number | null } | null): void {
    if (status === null) this.change({ line: "away" });
    else {
      this.stream?.retry();
      const line = this.state.line === "away" || this.state.line === "connecting" ? "polling" : this.state.line;
      this.change({ line, newestMs: newer(this.state.newestMs, status.newest_sample_ms), told: true });
    }
  }

  /** Follows the server until the returned function is called. */
  open(): () => void {
    const stream = shareLiveStream({
      onOpen: () => {
        this.change({ line: "stream" });
        this.announce();
        this.announceAlerts();
      },
      onAlerts: () => this.announceAlerts(),
      onLost: () => this.change({ line: this.state.line === "away" ? "away" : "polling" }),
      onSamples: ({ newestMs }) => {
        this.change({ line: "stream", newestMs: newer(this.state.newestMs, newestMs), told: true });
        this.announce();
      },
    });
    this.stream = stream;
    const timer = setInterval(() => {
      if (this.state.line === "polling") this.announce();
    }, POLL_MS);
    return () => {
      this.stream = null;
      stream.close();
      clearInterval(timer);
    };
  }

  private announce(): void {
    for (const listener of this.samples) listener();
  }

  private announceAlerts(): void {
    for (const listener of this.alerts) listener();
  }

  private change(change: Partial<ConnectionState>): void {
    const next = { ...this.state, ...change };
    const { line, newestMs, told } = this.state;
    if (next.line === line && next.newestMs === newestMs && next.told === told) return;
    this.state = next;
    for (const listener of this.listeners) listener();
  }
}

function newer(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.max(a, b);
}
