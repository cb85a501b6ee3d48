/** Connecting an application by a click: a real program that listens, a real agent, and the file that it reads. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "@playwright/test";
import { expect, expectAccessibleInBoth, expectWithin, OWN_SERVER, test } from "./live-test";
import { START_MS, type System, startGuardedServer, startSystem } from "./start-system";

test.use(OWN_SERVER);
test.describe.configure({ mode: "serial" });

const POOL = { MaxOpenConnections: 8, OpenConnections: 2, InUse: 1, Idle: 1, WaitCount: 3, WaitDuration: 5_000_000 };

let system: System;
let application: Server;
let port: number;
const asked: string[] = [];

test.beforeAll(async () => {
  test.setTimeout(2 * START_MS);
  application = createServer((request, response) => {
    asked.push(request.url ?? "");
    const found = request.url === "/debug/dbstats";
    response.writeHead(found ? 200 : 404, { "Content-Type": "application/json" });
    response.end(JSON.stringify(found ? POOL : { error: "no such page" }));
  });
  await new Promise<void>((resolve) => application.listen(0, "127.0.0.1", resolve));
  port = (application.address() as AddressInfo).port;
  system = await startSystem();
});
test.afterAll(async () => {
  await system.stop();
  application.closeAllConnections();
  application.close();
});

function card(page: Page) {
  return page.locator(`#port-${port}`);
}

/** On the live page, as long as nobody sends anything but the host. */
function hint(page: Page) {
  return page.getByRole("region", { name: "Connect your app" });
}

test("a live page without an application says what to connect, in the place of empty charts", async ({ page }) => {
  await page.goto(system.url);
  await expect(hint(page)).toContainText("seems a Go program that shows its connection pool");
  await expect(page.locator("#panel-rps")).toBeHidden();
  await expect(page.getByRole("heading", { name: "Hosts" })).toBeVisible();
  await expectAccessibleInBoth(page);
  await hint(page)
    .getByRole("link", { name: new RegExp(`^${port}`) })
    .click();
  await expect(card(page).getByRole("button", { name: "Check", exact: true })).toBeVisible();
});

test("what listens is listed with the lines that watch it, by keyboard alone", async ({ page }) => {
  await page.goto(`${system.url}/connect`);
  await expect(page.getByRole("heading", { level: 1, name: "Connect your app" })).toBeVisible();
  const summary = card(page).locator("summary");
  await expect(summary).toContainText("seems a Go program that shows its connection pool");
  await expect(summary).toContainText("by its answer to GET /debug/dbstats");
  await expect(summary).toContainText("Not watched");
  expect([...new Set(asked)].sort()).toEqual(["/debug/dbstats", "/metrics"]);
  await summary.focus();
  await page.keyboard.press("Enter");
  await expect(card(page).locator("pre").first()).toContainText(
    `dbstats: {url: "http://127.0.0.1:${port}/debug/dbstats"}`,
  );
  // Loadwatch itself is nothing to watch.
  await expect(page.getByText(/^Nothing to watch: \d+$/)).toBeVisible();
});

test("axe finds nothing, wide and narrow, in either scheme and language", async ({ page, browser }) => {
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 860 });
    await page.goto(`${system.url}/connect#port-${port}`);
    await expect(card(page).getByRole("button", { name: "Check", exact: true })).toBeVisible();
    await expectAccessibleInBoth(page);
    await expectWithin(page, width);
  }
  const context = await browser.newContext({ locale: "ja-JP", viewport: { width: 390, height: 844 } });
  const japanese = await context.newPage();
  await japanese.goto(`${system.url}/connect#port-${port}`);
  await expect(card(japanese).getByRole("button", { name: "確認して監視する" })).toBeVisible();
  await expectAccessibleInBoth(japanese);
  await expectWithin(japanese, 390);
  await context.close();
});

test("lines are checked, then written, and the agent watches", async ({ page }) => {
  await page.goto(`${system.url}/connect#port-${port}`);
  await card(page).getByRole("button", { name: "Check", exact: true }).click();
  const answers = card(page).getByRole("list", { name: "What the check says" });
  await expect(answers).toContainText("process works");
  await expect(answers).toContainText("dbstats works");
  await expect(answers).toContainText("go_sql_max_open_connections");
  await expect(card(page).getByText(/^Written to/)).toHaveCount(0);
  await card(page).getByRole("button", { name: "Check and watch it" }).click();
  await expect(card(page).getByText(/^Written to .*loadwatch\.yml/)).toBeVisible();
  await expect(card(page).locator("summary")).toContainText("Watched");
  await expectAccessibleInBoth(page);
  await card(page)
    .getByRole("link", { name: /Targets/ })
    .click();
  await expect(page.getByRole("row", { name: /dbstats/ })).toContainText("Up");
  await page.goBack();
  await expect(card(page).locator("summary")).toContainText("Watched");
  await expect(card(page).locator("pre")).toHaveCount(0);
  await page.goto(system.url);
  await expect(page.locator("#panel-rps")).toBeVisible();
  await expect(hint(page)).toHaveCount(0);
});

test("a server without an agent of its own names the commands", async ({ page }) => {
  const guarded = await startGuardedServer();
  try {
    await page.goto(`${guarded.url}/connect`);
    await page.getByLabel("Token", { exact: true }).fill(guarded.token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(page.getByRole("heading", { name: "On the host of your application" })).toBeVisible();
    await expect(page.getByText("loadwatch connect --config loadwatch.yml").first()).toBeVisible();
    await expectAccessibleInBoth(page);
  } finally {
    await guarded.stop();
  }
});
