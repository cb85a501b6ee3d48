/** The pools of the targets: what ten instances should be set to by which formula, and what is said of none. */
import type { Page } from "@playwright/test";
import { expect, expectAccessibleInBoth, expectWithin, test } from "./live-test";
import { type Sample, writeSamples } from "./remote-write";

const INSTANCES = 10;
const SECONDS = 60;
const EVERY_MS = 2000;

/** Samples of the last minute; what each test writes agrees with what the ones before it wrote. */
function at(labels: Record<string, string>, value: (second: number) => number): Sample[] {
  const now = Math.floor(Date.now() / EVERY_MS) * EVERY_MS;
  return Array.from({ length: (SECONDS * 1000) / EVERY_MS }, (_, place) => {
    const timeMs = now - SECONDS * 1000 + place * EVERY_MS;
    return { labels, value: value(timeMs / 1000), timeMs };
  });
}

/** A minute in which ten instances with eight connections each had four requests waiting, at a database of 151. */
async function write(baseURL: string | undefined): Promise<void> {
  const pool = (name: string, instance: number, value: (second: number) => number) =>
    at({ __name__: name, job: "shop", instance: `web-${instance}`, db_name: "main" }, value);
  const database = (name: string, value: number, more: Record<string, string> = {}) =>
    at({ __name__: name, job: "mysql", instance: "db-1", ...more }, () => value);
  const instances = Array.from({ length: INSTANCES }, (_, place) => place + 1);
  await writeSamples(baseURL ?? "", [
    ...instances.flatMap((one) => [
      ...pool("go_sql_in_use_connections", one, () => 8),
      ...pool("go_sql_open_connections", one, () => 8),
      ...pool("go_sql_max_open_connections", one, () => 8),
      ...pool("go_sql_max_idle_connections", one, () => 2),
      ...pool("go_sql_connection_max_lifetime_seconds", one, () => 0),
      ...pool("go_sql_connection_max_idle_time_seconds", one, () => 0),
      ...pool("go_sql_wait_count_total", one, (second) => second * 20),
      ...pool("go_sql_wait_duration_seconds_total", one, (second) => second * 4),
    ]),
    ...database("mysql_global_variables_max_connections", 151),
    ...database("mysql_global_status_threads_connected", INSTANCES * 8 + 30),
    ...database("mysql_info_schema_processlist_processes_by_user", 28, { mysql_user: "redash" }),
  ]);
}

const pools = (page: Page) => page.getByRole("region", { name: "Pools" });

async function open(page: Page, address = "/pools"): Promise<void> {
  await page.goto(address);
  await expect(pools(page).getByRole("row", { name: /shop \/ main/ })).toBeVisible();
}

test("ten pools that are too small, at a database that has no room for what they need", async ({ page, baseURL }) => {
  await write(baseURL);
  // The address of the page that it was leads to the section.
  await open(page);
  await expect(page).toHaveURL(/\/targets#pools$/);
  await expect(pools(page)).toBeInViewport();
  // 8 in use and 4 waiting, with a fifth for bursts, is 15 each; 151 without 30 others and a reserve of 8 leaves 113.
  await expect(pools(page)).toContainText("The pools need 150 connections and the database leaves 113");
  const row = pools(page).getByRole("row", { name: /shop \/ main/ });
  await expect(row).toContainText("11 now 8");
  await expect(row).toContainText("11 now 2");
  await pools(page).getByText("Formulas and lines of Go for shop / main").click();
  await expect(pools(page)).toContainText("db.SetMaxOpenConns(11)");
  await expect(pools(page)).toContainText(
    "8 connections in use + 4 requests waiting at once = 12 × 1.2 for bursts = 15",
  );
  await expect(pools(page)).toContainText("Source: J. D. C. Little");
});

test("no pool at all", async ({ page }) => {
  // A minute of 1970, in which nobody watched anything: the server's own answer for it.
  await page.route("**/api/pool-advice?*", (route) => {
    const asked = new URL(route.request().url());
    asked.searchParams.set("start_ms", "1000");
    asked.searchParams.set("end_ms", "61000");
    return route.continue({ url: asked.href });
  });
  await page.goto("/targets");
  await expect(pools(page)).toContainText("No pool was seen in this window");
  await expect(pools(page)).toContainText("url: http://127.0.0.1:8080/debug/dbstats");
});

test("axe finds nothing, wide and narrow, in either scheme", async ({ page, baseURL }) => {
  await write(baseURL);
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 860 });
    await open(page);
    await pools(page).getByText("Formulas and lines of Go for shop / main").click();
    await expectAccessibleInBoth(page);
    await expectWithin(page, width);
  }
});

test("in Japanese", async ({ browser, baseURL }) => {
  await write(baseURL);
  const context = await browser.newContext({ locale: "ja-JP", baseURL: baseURL ?? "" });
  const page = await context.newPage();
  await page.goto("/targets");
  await expect(page.getByRole("heading", { name: "コネクションプール" })).toBeVisible();
  await expect(page.getByText("プールに必要な150接続に対し、DBに残るのは113")).toBeVisible();
  await context.close();
});
