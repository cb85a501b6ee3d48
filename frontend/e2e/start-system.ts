/** Starts a real server and a real agent on free ports with their own data, and ends them by pid. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const LOADWATCH = join(ROOT, ".venv/bin/loadwatch");
const UI = join(ROOT, "backend/loadwatch_backend/ui/index.html");
export const START_MS = 240_000;
/** Below the range that the kernel gives out to whoever asks for any port, so that nobody else takes one meanwhile. */
const PORTS = { first: 15_000, count: 17_000 };

export interface System {
  readonly url: string;
  /** Ends the process; its data and its port stay. */
  halt(): Promise<void>;
  /** Starts it again after `halt`. */
  resume(): Promise<void>;
  stop(): Promise<void>;
}

/** A server with an agent that watches this host, with samples in the store. */
export function startSystem(): Promise<System> {
  return start("up", () => ({}), untilSamples);
}

export interface GuardedSystem extends System {
  /** An administrator's token. */
  readonly token: string;
}

/** A server that asks for a token, without an agent. */
export async function startGuardedServer(): Promise<GuardedSystem> {
  let token = "";
  const makeToken = (home: string) => {
    const file = join(home, "tokens");
    const options = ["--role", "admin", "--name", "e2e", "--token-file", file];
    token =
      execFileSync(LOADWATCH, ["token", "create", ...options], { encoding: "utf8", stdio: "pipe" }).match(
        /lw_admin_\S+/,
      )?.[0] ?? "";
    return { LOADWATCH_TOKEN_FILE: file };
  };
  const system = await start("server", makeToken, untilReady);
  return { ...system, token };
}

export async function start(
  command: string,
  prepare: (home: string) => NodeJS.ProcessEnv,
  until: (url: string, child: ChildProcess) => Promise<void>,
): Promise<System> {
  if (!existsSync(UI))
    throw new Error(`The page is not built: ${UI} is missing. Run \`npm run build --workspace frontend\`.`);
  const home = mkdtempSync(join(tmpdir(), "loadwatch-e2e-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const log = join(home, "log");
  const environment = {
    ...process.env,
    ...prepare(home),
    LOADWATCH_DATA: join(home, "data"),
    LOADWATCH_LISTEN: `127.0.0.1:${port}`,
  };
  let child: ChildProcess | undefined;
  const halt = async () => {
    if (child !== undefined) await end(child);
  };
  const stop = async () => {
    await halt();
    rmSync(home, { recursive: true, force: true });
  };
  const resume = async () => {
    child = spawn(LOADWATCH, [command], {
      env: environment,
      stdio: ["ignore", openSync(log, "a"), openSync(log, "a")],
    });
    try {
      await until(url, child);
    } catch (error) {
      const tail = readFileSync(log, "utf8").slice(-2000);
      await stop();
      throw new Error(`${String(error)}\nLast lines of its log:\n${tail}`);
    }
  };
  await resume();
  return { url, halt, resume, stop };
}

async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = PORTS.first + Math.floor(Math.random() * PORTS.count);
    if (await isFree(port)) return port;
  }
  throw new Error("no port is free");
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

function untilSamples(url: string, child: ChildProcess): Promise<void> {
  return poll(child, `samples at ${url}`, async () => {
    const response = await fetch(`${url}/api/status`);
    const status = (await response.json()) as { newest_sample_ms: number | null };
    return status.newest_sample_ms !== null;
  });
}

export function untilReady(url: string, child: ChildProcess): Promise<void> {
  return poll(child, `server at ${url}`, async () => (await fetch(`${url}/-/ready`)).ok);
}

async function poll(child: ChildProcess, what: string, found: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + START_MS;
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`loadwatch ended with ${child.exitCode} before it was ready.`);
    if (await found().catch(() => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`No ${what} after ${START_MS / 1000} s.`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  // Not an interrupt: what a shell starts in the background may ignore it.
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), 60_000);
  await ended;
  clearTimeout(timer);
}
