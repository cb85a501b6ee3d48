/** The panels "Requests" of the live page, from the log of a real nginx that the agent follows. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { drawnPath, expect, expectAccessibleInBoth, expectWithin, OWN_SERVER, test } from "./live-test";
import { type System, start, untilReady } from "./start-system";

const NGINX = existsSync("/usr/sbin/nginx") ? "/usr/sbin/nginx" : "nginx";
const CHARTS = ["rate", "latency", "failures", "status", "bytes"] as const;

test.use(OWN_SERVER);

let system: System;
let nginx: ChildProcess;
let folder: string;
let site: string;
let asking = true;
let load: Promise<void>;

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

/** A server of anything; the time of each request stands behind the combined format. */
function configuration(port: number): string {
  const folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (one) => `${one}_temp_path ${folder}/${one};`,
  );
  return `daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
events { worker_connections 64; }
http {
  log_format timed '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent '
    '"$http_referer" "$http_user_agent" $request_time';
  access_log ${folder}/access.log timed;
  ${folders.join("\n  ")}
  server {
    listen 127.0.0.1:${port};
    location / { return 200 "served\\n"; }
    location /unchanged { return 304; }
    location /broken { return 502; }
  }
}
`;
}

/** Asks for a few pages again and again, until the tests are over. */
async function ask(): Promise<void> {
  for (let number = 0; asking; number += 1) {
    for (const path of [`/users/${number}?token=s3cret`, "/unchanged", ...(number % 5 === 0 ? ["/broken"] : [])]) {
      await fetch(site + path).then(
        (answer) => answer.text(),
        () => "",
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test.beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "loadwatch-nginx-"));
  const port = await freePort();
  site = `http://127.0.0.1:${port}`;
  writeFileSync(join(folder, "nginx.conf"), configuration(port));
  nginx = spawn(NGINX, ["-c", join(folder, "nginx.conf"), "-e", join(folder, "error.log")], { stdio: "ignore" });
  const prepare = (home: string) => {
    mkdirSync(join(home, "data"), { recursive: true });
    const target = `targets:\n  - job: web\n    access_log: {path: ${folder}/access.log}\n`;
    writeFileSync(join(home, "data", "loadwatch.yml"), target);
    return {};
  };
  system = await start("up", prepare, untilReady);
  load = ask();
});

test.afterAll(async () => {
  asking = false;
  await load;
  await system.stop();
  nginx.kill("SIGTERM");
  rmSync(folder, { recursive: true, force: true });
});

test("the log of a web server fills the panels of requests", async ({ page }) => {
  await page.goto(system.url);
  await expect(page.getByRole("button", { name: /Fold/ }).first()).toBeVisible();
  await page.goto(`${system.url}/#panel-requests-rate`);
  for (const name of CHARTS) {
    const panel = page.locator(`#panel-requests-${name}`);
    await panel.scrollIntoViewIfNeeded();
    await expect(panel.locator(".lw-line").first()).toBeAttached();
    await expect.poll(() => drawnPath(panel)).not.toBe("");
  }
  // Legends get their last names with the first failure.
  await expect.poll(async () => new Set(await plotHeights(page, ["rate", "latency", "failures"])).size).toBe(1);
  const status = page.locator("#panel-requests-status");
  for (const code of ["2xx", "304", "5xx"]) await expect(status.getByText(code).first()).toBeVisible();
  const routes = page.locator("#panel-requests-routes");
  for (const name of ["GET /users/:id", "GET /unchanged", "GET /broken"]) {
    await expect(routes.getByRole("cell", { name, exact: true })).toBeVisible();
  }
  await expect(page.getByText("s3cret")).toHaveCount(0);
  for (const name of [...CHARTS, "routes"]) await expectAccessibleInBoth(page, `#panel-requests-${name}`);
  await page.setViewportSize({ width: 390, height: 844 });
  await routes.scrollIntoViewIfNeeded();
  await expect(routes.getByText("/users/:id").first()).toBeVisible();
  await expectWithin(page, 390);
});

/** Plots that stand in one row: with more or fewer names in their legends they are of one height. */
function plotHeights(page: Page, names: readonly string[]): Promise<readonly number[]> {
  return Promise.all(
    names.map((name) =>
      page
        .locator(`#panel-requests-${name} path.lw-line`)
        .first()
        .evaluate((line) => Math.round(line.closest("svg")?.getBoundingClientRect().height ?? 0)),
    ),
  );
}
