/** The ladder of timeouts: a wrong order is drawn, explained, and gone when it is put right. */
import type { Page } from "@playwright/test";
import { expect, expectAccessibleInBoth, expectWithin, test } from "./live-test";
import { type Sample, writeSamples } from "./remote-write";

const BALANCER = "app/prod-api/50dc6c495c0c9188";

function given(layer: string, kind: string, value: number, more: Record<string, string> = {}): Sample {
  const labels = { __name__: "timeout_seconds", job: "shop", instance: "app-1", layer, kind, source: "configuration" };
  return { labels: { ...labels, ...more }, value, timeMs: Date.now() };
}

function balancer(value: number): Sample {
  const labels = { __name__: "aws_applicationelb_idle_timeout_seconds", job: "aws", instance: "tokyo" };
  return { labels: { ...labels, dimension_LoadBalancer: BALANCER }, value, timeMs: Date.now() };
}

async function write(baseURL: string | undefined, appIdle: number): Promise<void> {
  await writeSamples(baseURL ?? "", [
    given("client", "request", 90),
    given("client", "idle", 50),
    given("app", "idle", appIdle),
    given("app", "write", Number.POSITIVE_INFINITY, { source: "runtime" }),
    given("pool", "max_lifetime", 300),
    balancer(60),
  ]);
}

function row(page: Page, layer: string, kind: string) {
  return page
    .getByRole("region", { name: /^Timeouts in the order/ })
    .locator("div", { has: page.getByRole("heading", { name: layer }) })
    .getByRole("listitem")
    .filter({ hasText: kind });
}

test("an application that hangs up before the balancer is drawn and explained, until it no longer does", async ({
  page,
  baseURL,
}) => {
  await write(baseURL, 30);
  await page.goto("/timeouts?job=shop");
  await expect(page.getByRole("heading", { name: "Wrong orders: 2" })).toBeVisible();
  await expect(row(page, "Load balancer", "Idle timeout")).toContainText("60 s");
  await expect(row(page, "Load balancer", "Idle timeout")).toContainText("prod-api");
  await expect(row(page, "Application", "Idle connection")).toContainText("30 s");
  await expect(row(page, "Application", "Writing the answer")).toContainText("no limit");
  await expect(row(page, "Database", "Idle session")).toContainText("not known");
  const fault = page.locator("#fault-1");
  await expect(fault).toContainText("502 or 504");
  await expect(fault).toContainText("Raise the application's idle timeout above 60 s");
  await row(page, "Application", "Idle connection").getByRole("link", { name: "Fault 1" }).click();
  await expect(fault).toBeInViewport();
  await page.getByText("Timeouts that are not known, and how to tell them").click();
  await expect(page.getByText(/Found by itself with mysql \(wait_timeout\)/)).toBeVisible();

  await write(baseURL, 75);
  await expect(page.getByRole("heading", { name: "Wrong orders: 1" })).toBeVisible();
  await expect(page.getByText("502 or 504")).toHaveCount(0);
});

test("the page is found from the targets and by name", async ({ page, baseURL }) => {
  await write(baseURL, 30);
  await page.goto("/targets");
  await page.getByRole("link", { name: "Ladder of timeouts" }).click();
  await expect(page.getByRole("heading", { name: "Ladder of timeouts" })).toBeVisible();
  await expect(page.locator("#fault-1")).toBeVisible();
});

test("axe finds nothing, wide and narrow, in either scheme", async ({ page, baseURL }) => {
  await write(baseURL, 30);
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 860 });
    await page.goto("/timeouts?job=shop");
    await expect(page.locator("#fault-1")).toBeVisible();
    await expectAccessibleInBoth(page);
    await expectWithin(page, width);
  }
});

test("in Japanese", async ({ browser, baseURL }) => {
  await write(baseURL, 30);
  const context = await browser.newContext({ locale: "ja-JP", baseURL: baseURL ?? "" });
  const page = await context.newPage();
  await page.goto("/timeouts?job=shop");
  await expect(page.getByRole("heading", { name: "タイムアウトの階段" })).toBeVisible();
  await expect(page.locator("#fault-1")).toContainText("502 や 504");
  await context.close();
});
