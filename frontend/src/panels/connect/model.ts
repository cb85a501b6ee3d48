/** What is told of listeners, without drawing it. */
import type { Listener, Seeming } from "@/api/connect/types";

/** `silent` did not say what it is, `unasked` was not asked. */
export type ListenerKind = Seeming["kind"] | "silent" | "unasked";

/** Applications first, then what they stand on; ports of the system last. */
const ORDER: readonly ListenerKind[] = [
  "dbstats",
  "metrics",
  "nginx",
  "mysql",
  "postgresql",
  "pgbouncer",
  "redis",
  "memcached",
  "http",
  "tls",
  "silent",
  "unasked",
  "ssh",
  "loadwatch",
];

export function kindOf(listener: Listener): ListenerKind {
  return listener.seems[0]?.kind ?? (listener.asked ? "silent" : "unasked");
}

/** By kind and port: whether one is watched moves nothing. */
export function sortListeners(listeners: readonly Listener[]): Listener[] {
  const rank = (one: Listener) => ORDER.indexOf(kindOf(one));
  return [...listeners].sort((a, b) => rank(a) - rank(b) || a.port - b.port);
}

/** Whether there is something of it to watch, or was: Loadwatch itself, and what nobody can see, have nothing. */
export function isWatchable(listener: Listener): boolean {
  return kindOf(listener) !== "loadwatch" && (listener.lines !== "" || listener.watched.length > 0);
}

/** The same by hand, on the host of an application; `server` is the address of this page. */
export const commandsFor = (server: string) => `loadwatch connect --config loadwatch.yml
loadwatch connect 8080 --config loadwatch.yml --write --server ${server}
loadwatch agent --config loadwatch.yml`;

/** Whether only this host reaches an address of that name. */
export const isLoopback = (hostname: string) => /^(localhost|127\..*|\[?::1\]?)$/.test(hostname);

/** Where links within the page lead; programs that share a port are told apart. */
export function listenerId(listener: Listener, listeners: readonly Listener[]): string {
  const same = listeners.filter(({ port }) => port === listener.port);
  return same[0] === listener ? `port-${listener.port}` : `port-${listener.port}-${same.indexOf(listener) + 1}`;
}

/** The file in which the lines expect a password; null where they expect none. */
export function passwordFile(lines: string): string | null {
  return /password_file: "?([^",}]+)/.exec(lines)?.[1] ?? null;
}

/** The account of the agent, as docs/guide/sources-database.md has it. `host` is where the agent comes from. */
export function grantsOf(server: "mysql" | "mariadb", host: string): string {
  const account = `'loadwatch'@'${host}'`;
  const create = `CREATE USER ${account} IDENTIFIED BY 'a long password' WITH MAX_USER_CONNECTIONS 4;`;
  const tables = `GRANT SELECT ON shop.* TO ${account};`;
  return server === "mariadb"
    ? `${create}\nGRANT PROCESS, SLAVE MONITOR ON *.* TO ${account};\n${tables}`
    : `${create}\nGRANT PROCESS, REPLICATION CLIENT ON *.* TO ${account};\n` +
        `GRANT SELECT ON performance_schema.* TO ${account};\n${tables}`;
}

export const POSTGRESQL_GRANTS =
  "CREATE ROLE loadwatch LOGIN PASSWORD 'a long password' CONNECTION LIMIT 4;\nGRANT pg_monitor TO loadwatch;";

interface TargetLike {
  readonly job: string;
  readonly collectors: readonly { readonly collector: string }[];
}

const OF_THE_HOST: ReadonlySet<string> = new Set(["host", "sockets", "limits"]);

/** Whether nobody has connected anything yet: all that reports is the host, and Loadwatch itself. */
export function nothingConnected(targets: readonly TargetLike[]): boolean {
  return targets.every(
    ({ job, collectors }) =>
      job.startsWith("loadwatch") || collectors.every(({ collector }) => OF_THE_HOST.has(collector)),
  );
}
