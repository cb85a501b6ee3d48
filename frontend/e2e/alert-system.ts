/** A server with rules of its own, and a sender whose values a test sets. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeSamples } from "./remote-write";
import { type System, start, untilReady } from "./start-system";

const PERIOD_MS = 500;

export const RULES = `groups:
  - name: queues
    interval: 1s
    rules:
      - alert: QueueTooLong
        expr: test_queue_length > 100
        labels: { severity: critical }
        annotations:
          summary: "{{ $labels.queue }} holds {{ $value }} messages"
          description: The consumers are slower than the producers.
          runbook_url: https://example.org/runbooks/queue
          loadwatch_unit: count
      - alert: SlowAnswers
        expr: test_answer_seconds > 0.5
        for: 1h
        labels: { severity: warning }
        annotations: { summary: "{{ $labels.service }} answers slowly", loadwatch_unit: seconds }
      - record: queue:test_queue_length:max
        expr: max(test_queue_length)
`;

export const BROKEN_RULES = `${RULES}      - alert: Broken
        expr: up >
`;

export interface AlertSystem extends System {
  /** Sets a value, which is sent twice a second from now on. */
  queue(name: string, length: number): Promise<void>;
  service(name: string, seconds: number): Promise<void>;
  /** Ends a series as a scraper does whose target went away. */
  vanish(name: string): Promise<void>;
  writeRules(text: string): void;
}

export async function startAlertSystem(): Promise<AlertSystem> {
  let file = "";
  const prepare = (home: string) => {
    file = join(home, "rules.yml");
    writeFileSync(file, RULES);
    return { LOADWATCH_RULES: file, LOADWATCH_DEFAULT_RULES: "false" };
  };
  const system = await start("server", prepare, untilReady);
  const held = new Map<string, { readonly labels: Readonly<Record<string, string>>; readonly value: number }>();
  const send = async () => {
    const timeMs = Date.now();
    if (held.size > 0)
      await writeSamples(
        system.url,
        [...held.values()].map((one) => ({ ...one, timeMs })),
      );
  };
  // A failed send shows as a value that does not arrive; the next one brings it.
  const timer = setInterval(() => void send().catch(() => {}), PERIOD_MS);
  const set = (name: string, labels: Readonly<Record<string, string>>, value: number) => {
    held.set(name, { labels, value });
    return send();
  };
  return {
    ...system,
    queue: (name, length) => set(name, { __name__: "test_queue_length", queue: name }, length),
    service: (name, seconds) => set(name, { __name__: "test_answer_seconds", service: name }, seconds),
    vanish: async (name) => {
      const { labels } = held.get(name) ?? { labels: {} };
      held.delete(name);
      await writeSamples(system.url, [{ labels, value: null, timeMs: Date.now() + 1 }]);
    },
    writeRules: (text) => writeFileSync(file, text),
    stop: async () => {
      clearInterval(timer);
      await system.stop();
    },
  };
}
