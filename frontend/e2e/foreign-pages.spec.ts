/** What a page of another site can have a browser do at a server without login: lead to pages, and nothing else. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, type Page, test } from "@playwright/test";
import { ONCE } from "./remote-write";
import { type System, start, untilReady } from "./start-system";

const QUERY = "/prometheus/api/v1/query?query=vector(1)";
const READS = [QUERY, "/api/status", "/metrics"] as const;
const KINDS = ["image", "script", "style", "frame", "object", "fetch", "ask", "hidden", "form", "window"] as const;

let system: System;
let foreign: Server;
test.beforeAll(async () => {
  system = await start("server", () => ({ LOADWATCH_DEFAULT_RULES: "false" }), untilReady);
  foreign = createServer((request, response) => {
    const [kind, path] = decodeURIComponent(request.url ?? "").split("!");
    response.setHeader("Content-Type", "text/html");
    response.end(pageWith(kind ?? "", system.url + (path ?? "")));
  });
  await new Promise<void>((resolve) => foreign.listen(0, "127.0.0.1", resolve));
});
test.afterAll(async () => {
  foreign.close();
  await system.stop();
});

function pageWith(kind: string, target: string): string {
  const tags: Record<string, string> = {
    "/image": `<img src="${target}">`,
    "/script": `<script src="${target}"></script>`,
    "/style": `<link rel="stylesheet" href="${target}">`,
    "/frame": `<iframe src="${target}"></iframe>`,
    "/object": `<object data="${target}"></object>`,
    "/fetch": `<script>fetch("${target}", { mode: "no-cors" }).catch(() => {})</script>`,
    "/ask": `<script>fetch("${target}").catch(() => {})</script>`,
    "/hidden": `<meta name="referrer" content="no-referrer"><img src="${target}">`,
    "/form": `<form action="${target}"><input name="query" value="vector(1)"></form><script>document.forms[0].submit()</script>`,
    "/link": `<a href="${target}">go</a>`,
    "/window": `<script>location.href = "${target}"</script>`,
  };
  return `<!doctype html>${tags[kind] ?? ""}`;
}

async function counted(name: string, labels: string): Promise<number> {
  const text = await (await fetch(`${system.url}/metrics`, ONCE)).text();
  const lines = text.split("\n").filter((line) => line.startsWith(name) && line.includes(labels));
  return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

const refused = () => counted("loadwatch_http_refusals_total", 'code="foreign-origin"');
const DONE = "loadwatch_http_request_duration_seconds_count";
const answered = (path: string) => counted(DONE, `route="${path.split("?")[0]}",status="200"`);

async function visit(page: Page, host: string, kind: string, path: string): Promise<void> {
  const { port } = foreign.address() as AddressInfo;
  const address = `http://${host}:${port}/${kind}!${encodeURIComponent(path)}`;
  // The page before may still be on its way to where it sent the browser, which interrupts.
  await expect(() => page.goto(address, { waitUntil: "commit" })).toPass();
}

// Another name is another site; another port of the same name is another origin of the same site.
for (const host of ["localhost", "127.0.0.1"]) {
  test(`a page of ${host} has nothing done`, async ({ page }) => {
    for (const kind of KINDS) {
      for (const path of kind === "image" || kind === "fetch" ? READS : [QUERY]) {
        const before = await refused();
        await visit(page, host, kind, path);
        await expect.poll(refused, `${kind} of ${path}`).toBeGreaterThan(before);
      }
    }
    expect(await answered(QUERY)).toBe(0);
  });

  test(`a link on ${host} opens pages and no interface`, async ({ page }) => {
    const go = page.getByRole("link", { name: "go" });
    for (const path of ["/", "/alerts", "/runs", "/alerts/silences?create=1"]) {
      await visit(page, host, "link", path);
      await go.click();
      await expect(page.getByRole("link", { name: "Targets" })).toBeVisible();
    }
    await visit(page, host, "link", "/runbooks");
    await go.click();
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    for (const [path, status] of [...READS.map((read) => [read, 403] as const), ["/no/such/page", 404] as const]) {
      await visit(page, host, "link", path);
      const [answer] = await Promise.all([page.waitForResponse(system.url + path), go.click()]);
      expect(answer.status()).toBe(status);
    }
    await expect(page.getByText("There is no such page")).toBeVisible();
    expect(await answered(QUERY)).toBe(0);
  });
}
