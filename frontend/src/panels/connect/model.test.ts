import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Listener, Seeming } from "@/api/connect/types";
import {
  grantsOf,
  isWatchable,
  kindOf,
  listenerId,
  nothingConnected,
  POSTGRESQL_GRANTS,
  passwordFile,
  sortListeners,
} from "./model";

function listener(port: number, kind: Seeming["kind"] | null, more: Partial<Listener> = {}): Listener {
  return {
    port,
    addresses: ["127.0.0.1"],
    program: "shop",
    owner_seen: true,
    user: "ann",
    pids: [7],
    asked: true,
    seems: kind === null ? [] : [{ kind, told: "answer", path: "/metrics" }],
    watched: [],
    lines: "- job: shop\n  process: {port: 8080}\n",
    digest: "0123456789abcdef",
    ...more,
  };
}

it("applications come first, and what is watched stays in its place", () => {
  const rows = [
    listener(22, "ssh"),
    listener(9000, null),
    listener(3306, "mysql"),
    listener(8081, "dbstats"),
    listener(8080, "dbstats", { lines: "", watched: [{ source: "dbstats", job: "shop", where: "f:1" }] }),
    listener(68, null, { asked: false }),
  ];
  expect(sortListeners(rows).map(({ port }) => port)).toEqual([8080, 8081, 3306, 9000, 68, 22]);
  expect(rows.map(kindOf)).toEqual(["ssh", "silent", "mysql", "dbstats", "dbstats", "unasked"]);
});

it("Loadwatch itself and what nobody can see are not to be watched", () => {
  const watched = [{ source: "process", job: "loadwatch-server", where: "f:1" }];
  expect(isWatchable(listener(8000, "loadwatch", { lines: "", watched }))).toBe(false);
  expect(isWatchable(listener(2024, null, { program: null, lines: "" }))).toBe(false);
  expect(isWatchable(listener(8080, "http", { lines: "", watched }))).toBe(true);
});

it("two programs at one port have addresses of their own", () => {
  const rows = [listener(80, "http"), listener(80, "http", { program: "other" })];
  expect(rows.map((row) => listenerId(row, rows))).toEqual(["port-80", "port-80-2"]);
});

it("the file of a password is read from the lines", () => {
  const lines =
    "- job: mysql\n  mysql: {host: 127.0.0.1, port: 3306, user: loadwatch, password_file: /d/m-1.password}\n";
  expect(passwordFile(lines)).toBe("/d/m-1.password");
  expect(passwordFile(lines.replace("/d/m-1.password", '"/my data/m.password"'))).toBe("/my data/m.password");
  expect(passwordFile("- job: shop\n  process: {port: 1}\n")).toBeNull();
});

it("the grants are those of the guide", () => {
  const guide = readFileSync(join(import.meta.dirname, "../../../../docs/guide/sources-database.md"), "utf8");
  expect(guide).toContain(grantsOf("mariadb", "127.0.0.1"));
  expect(guide).toContain(grantsOf("mysql", "10.%"));
  expect(guide).toContain(POSTGRESQL_GRANTS);
});

it("a host and Loadwatch itself are nothing that somebody connected", () => {
  const target = (job: string, ...collectors: string[]) => ({
    job,
    collectors: collectors.map((collector) => ({ collector })),
  });
  const own = [
    target("host", "host", "sockets"),
    target("loadwatch-agent", "agent"),
    target("loadwatch-server", "process"),
  ];
  expect(nothingConnected([])).toBe(true);
  expect(nothingConnected(own)).toBe(true);
  expect(nothingConnected([...own, target("shop", "dbstats")])).toBe(false);
  // Another sender, such as a Prometheus.
  expect(nothingConnected([...own, target("node", "")])).toBe(false);
});
