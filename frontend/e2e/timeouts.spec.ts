/** Timeouts of the targets: a wrong order is explained, and gone when it is put right. */
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

const timeouts = (page: Page) => page.getByRole("region", { name: "Timeouts" });

function row(page: Page, layer: string, kind: string) {
  return timeouts(page).getByRole("row", { name: new RegExp(`^${layer} ${kind}`) });
}

test("an application that hangs up before the balancer is told, until it no longer does", async ({ page, baseURL }) => {
  await write(baseURL, 30);
  // The address of the page that it was leads to the section.
  await page.goto("/timeouts");
  await expect(page).toHaveURL(/\/targets#timeouts$/);
  await expect(timeouts(page)).toBeInViewport();
  await expect(timeouts(page)).toContainText("Wrong orders: 2");
  const balanced = row(page, "Load balancer", "Idle timeout");
  await expect(balanced).toContainText("60 s");
  await expect(balanced).toContainText("prod-api");
  await expect(row(page, "Application", "Idle connection")).toContainText("30 s");
  await expect(row(page, "Application", "Writing the answer")).toContainText("no limit");
  await expect(balanced.getByTitle("Wrong order")).toBeVisible();
  await expect(timeouts(page)).toContainText("502 or 504");
  await expect(timeouts(page)).toContainText("Raise the application's idle timeout above 60 s");
  await timeouts(page).getByText("Orders and timeouts that are not known, and how to tell them").click();
  await expect(timeouts(page)).toContainText(/Found by itself with mysql \(wait_timeout\)/);

  await write(baseURL, 75);
  await expect(timeouts(page)).toContainText("Wrong orders: 1");
  await expect(page.getByText("502 or 504")).toHaveCount(0);
});

test("axe finds nothing, wide and narrow, in either scheme", async ({ page, baseURL }) => {
  await write(baseURL, 30);
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 860 });
    await page.goto("/targets#timeouts");
    await expect(timeouts(page)).toContainText("502 or 504");
    await expectAccessibleInBoth(page);
    await expectWithin(page, width);
  }
});

test("in Japanese", async ({ browser, baseURL }) => {
  await write(baseURL, 30);
  const context = await browser.newContext({ locale: "ja-JP", baseURL: baseURL ?? "" });
  const page = await context.newPage();
  await page.goto("/targets");
  await expect(page.getByRole("heading", { name: "タイムアウト" })).toBeVisible();
  await expect(page.getByText("502 や 504").first()).toBeVisible();
  await context.close();
});
