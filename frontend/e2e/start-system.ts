/** Starts a real server and a real agent on free ports with their own data, and ends them by pid. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const LOADWATCH = join(ROOT, ".venv/bin/loadwatch");
const UI = join(ROOT, "backend/loadwatch_backend/ui/index.html");
const START_MS = 60_000;

export interface System {
  readonly url: string;
  stop(): Promise<void>;
}

// biome-ignore lint/style/noDefaultExport: Playwright takes a global setup from the default export
export default async function startForTests(): Promise<() => Promise<void>> {
  const system = await startSystem();
  process.env.LOADWATCH_URL = system.url;
  return () => system.stop();
}

/** A server with an agent that watches this host, with samples in the store. */
export async function startSystem(): Promise<System> {
  if (!existsSync(UI))
    throw new Error(`The page is not built: ${UI} is missing. Run \`npm run build --workspace frontend\`.`);
  const home = mkdtempSync(join(tmpdir(), "loadwatch-e2e-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const log = join(home, "log");
  const environment = { ...process.env, LOADWATCH_DATA: join(home, "data"), LOADWATCH_LISTEN: `127.0.0.1:${port}` };
  const child = spawn(LOADWATCH, ["up"], {
    env: environment,
    stdio: ["ignore", openSync(log, "a"), openSync(log, "a")],
  });
  const stop = async () => {
    await end(child);
    rmSync(home, { recursive: true, force: true });
  };
  try {
    await untilSamples(url, child);
  } catch (error) {
    const tail = readFileSync(log, "utf8").slice(-2000);
    await stop();
    throw new Error(`${String(error)}\nLast lines of its log:\n${tail}`);
  }
  return { url, stop };
}

async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() =>
        typeof address === "object" && address ? resolve(address.port) : reject(new Error("no port")),
      );
    });
  });
}

async function untilSamples(url: string, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + START_MS;
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`loadwatch ended with ${child.exitCode} before it was ready.`);
    const status = await fetch(`${url}/api/status`).then(
      (response) => response.json() as Promise<{ newest_sample_ms: number | null }>,
      () => null,
    );
    if (status !== null && status.newest_sample_ms !== null) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`No samples at ${url} after ${START_MS / 1000} s.`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGINT");
  const timer = setTimeout(() => child.kill("SIGKILL"), 10_000);
  await ended;
  clearTimeout(timer);
}
