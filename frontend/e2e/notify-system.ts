/** A server with rules that fire at once and a notification file, and the webhook that its messages go to. */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { type System, start, untilReady } from "./start-system";

export interface Received {
  readonly path: string;
  readonly id: string;
  readonly document: {
    readonly status: string;
    readonly alerts: readonly { readonly labels: Record<string, string> }[];
  };
}

export interface Hook {
  readonly port: number;
  readonly received: readonly Received[];
  /** Answers requests for a path with this status from now on; all are 200 before. */
  answer(path: string, status: number): void;
  stop(): Promise<void>;
}

/** A small receiver on loopback that remembers what it got. */
export async function startHook(): Promise<Hook> {
  const received: Received[] = [];
  const statuses = new Map<string, number>();
  const server = createServer((request, response) => {
    if (request.method !== "POST") {
      // Not a message: a test beside this one asks whatever listens on this host what it is.
      response.writeHead(405).end();
      return;
    }
    void bodyOf(request).then((body) => {
      const path = request.url?.split("?")[0] ?? "";
      received.push({ path, id: String(request.headers["webhook-id"]), document: JSON.parse(body) });
      const status = statuses.get(path) ?? 200;
      response.writeHead(status, { "Content-Type": "text/plain" });
      response.end(status === 200 ? "taken" : `no use for it: ${status}`);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the hook has no port");
  return {
    port: address.port,
    received,
    answer: (path, status) => void statuses.set(path, status),
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const piece of request) body += String(piece);
  return body;
}

const RULES = `groups:
  - name: notify
    interval: 1s
    rules:
      - alert: PoolFull
        expr: vector(60) > 50
        labels: { severity: page, team: database, job: app }
        annotations: { summary: The pool is full }
      - alert: WebSlow
        expr: vector(2) > 1
        labels: { severity: warn, team: web, job: web }
        annotations: { summary: The web is slow }
      - alert: LinkLost
        expr: vector(2) > 1
        labels: { severity: warn, team: gone, job: link }
        annotations: { summary: The link is lost }
`;

/** The notification file; `more` is added at its end. */
export function configuration(port: number, more = ""): string {
  const at = (path: string) => `http://127.0.0.1:${port}${path}`;
  return `route:
  receiver: on-call
  group_by: [alertname, job]
  group_wait: 0s
  group_interval: 1h
  repeat_interval: 4h
  routes:
    - receiver: page-only
      matchers: ['run=~".+"']
    - receiver: web-team
      matchers: ['team="web"']
    - receiver: gone-team
      matchers: ['team="gone"']
    - receiver: night-team
      matchers: ['team="night"']
      group_by: ['...']
      mute_time_intervals: [always]
receivers:
  - name: on-call
    webhook_configs:
      - url: ${at("/on-call?key=not-to-be-shown")}
        signing_secret: whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=
  - name: web-team
    webhook_configs: [{ url: "${at("/web")}" }]
  - name: gone-team
    webhook_configs: [{ url: "${at("/gone")}" }]
  - name: night-team
    webhook_configs: [{ url: "${at("/night")}" }]
  - name: page-only
inhibit_rules:
  - source_matchers: ['severity="page"']
    target_matchers: ['severity="info"']
    equal: [job]
time_intervals:
  - name: always
    time_intervals: [{ times: [{ start_time: "00:00", end_time: "24:00" }] }]
loadwatch:
  run_notices: [{ receiver: on-call, events: [finished], matchers: ['verdict="failed"'] }]
${more}`;
}

export interface NotifySystem extends System {
  readonly hook: Hook;
  writeConfiguration(text: string): void;
}

/** `/web` refuses for good and `/gone` is gone, until a test mends them. */
export async function startNotifySystem(): Promise<NotifySystem> {
  const hook = await startHook();
  hook.answer("/web", 404);
  hook.answer("/gone", 410);
  let file = "";
  const prepare = (home: string) => {
    file = join(home, "notifications.yml");
    writeFileSync(file, configuration(hook.port));
    writeFileSync(join(home, "rules.yml"), RULES);
    return {
      LOADWATCH_RULES: join(home, "rules.yml"),
      LOADWATCH_DEFAULT_RULES: "false",
      LOADWATCH_NOTIFICATIONS: file,
      LOADWATCH_NOTIFY_NETWORKS: "127.0.0.0/8",
    };
  };
  const system = await start("server", prepare, untilReady);
  return {
    ...system,
    hook,
    writeConfiguration: (text) => writeFileSync(file, text),
    stop: async () => {
      await system.stop();
      await hook.stop();
    },
  };
}
