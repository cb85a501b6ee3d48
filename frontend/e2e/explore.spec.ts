/** Any PromQL in the browser: completed, run, shared, refused, and why it has no series. */
import type { Page } from "@playwright/test";
import { expect, expectAccessibleInBoth, expectWithin, test } from "./live-test";

const CPU = "sum by (mode) (rate(node_cpu_seconds_total[30s]))";
const editor = (page: Page) => page.getByRole("textbox", { name: /^PromQL/ });
const open = (page: Page, expression: string, more = "") =>
  page.goto(`/explore?expr=${encodeURIComponent(expression)}${more}`);

test("an expression is completed, run by keyboard, shared by its address and remembered", async ({ page, browser }) => {
  const data = { author: "e2e", text: "explored", start_ms: Date.now() - 20_000 };
  expect((await page.request.post("/api/annotations", { data })).ok()).toBe(true);
  await page.goto("/");
  await page.getByRole("link", { name: "Explore" }).click();
  await expect(page.getByRole("region", { name: "Metrics" }).getByRole("row").nth(1)).toBeVisible();
  await editor(page).focus();
  await page.keyboard.type("sum by (mode) (rate(node_cpu_sec");
  const offered = page.getByRole("option", { name: /node_cpu_seconds_total/ });
  await expect(offered).toContainText("counter");
  await expect(page.locator(".cm-completionInfo")).not.toBeEmpty();
  // A list that has just come takes no Enter: that was meant for what stood there before.
  await expect(async () => {
    await page.keyboard.press("Enter");
    await expect(editor(page)).toContainText("node_cpu_seconds_total", { timeout: 2_000 });
  }).toPass();
  await page.keyboard.type("[30s");
  await page.keyboard.press("Control+Enter");
  await expect(page).toHaveURL((url) => url.searchParams.get("expr") === CPU);
  const chart = page.getByRole("article", { name: "Chart" });
  await expect(chart.locator(".lw-line").nth(1)).toBeAttached();
  await expect(chart.locator(".lw-flag").first()).toBeAttached();

  await page.getByText("Table", { exact: true }).click();
  await expect(page.getByRole("cell", { name: '{mode="user"}' })).toBeVisible();
  const other = await (await browser.newContext()).newPage();
  await other.goto(page.url());
  await expect(other.getByRole("cell", { name: '{mode="user"}' })).toBeVisible();
  await expect(editor(other)).toHaveText(CPU);
  await other.context().close();

  await page.goto("/explore");
  await page.getByRole("button", { name: "History" }).click();
  await page.getByRole("menuitem", { name: CPU }).click();
  await expect(chart.locator(".lw-line").first()).toBeAttached();
});

test("what the engine refuses is said at the editor, and the next expression is run", async ({ page }) => {
  await open(page, "sum(rate(up)");
  await expect(page.getByRole("alert")).toContainText("unclosed left parenthesis");
  await open(page, "max_over_time(node_cpu_seconds_total[300d:1s])");
  await expect(page.getByRole("alert")).toContainText("The expression was not run.");
  await editor(page).focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Delete");
  await page.keyboard.type("up");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(page.locator(".lw-line").first()).toBeAttached();
  await expect(page.getByRole("alert")).toHaveCount(0);
});

test("an empty answer says which part of the expression has no series", async ({ page }) => {
  await open(page, 'sum(rate(node_cpu_seconds_total{job="host", mode="nobody"}[1m])) / 2');
  const parts = page.getByRole("region", { name: "Series of each part" }).getByRole("listitem");
  await expect(parts).toHaveCount(7);
  await expect(parts.nth(0)).toContainText("0 series");
  await expect(parts.nth(4)).toHaveText(/^node_cpu_seconds_total[1-9]\d* series$/);
  await expect(parts.nth(5)).toHaveText(/[1-9]\d* series$/);
  await expect(parts.nth(6)).toHaveText('node_cpu_seconds_total{mode="nobody"}0 series');
});

test("a metric is found by its help, with its series, and put into the expression", async ({ page }) => {
  await page.goto("/explore");
  const metrics = page.getByRole("region", { name: "Metrics" });
  await metrics.getByRole("searchbox").fill("wait DISK server");
  const row = metrics.getByRole("row").filter({ hasText: "agent_spool_bytes" });
  await expect(row.getByRole("cell").nth(1)).toHaveText("gauge");
  await expect(row.getByRole("cell").nth(2)).toHaveText("1");
  await row.getByRole("button").press("Enter");
  await expect(editor(page)).toHaveText("agent_spool_bytes");
  await expect(editor(page)).toBeFocused();
});

test("the page is accessible in both schemes, on a phone and in Japanese", async ({ page, browser, baseURL }) => {
  await open(page, CPU);
  await expect(page.locator(".lw-line").first()).toBeAttached();
  await page.getByRole("button", { name: "Series of each part" }).click();
  await expect(
    page
      .getByRole("listitem")
      .filter({ hasText: /\d series/ })
      .first(),
  ).toBeVisible();
  await expectAccessibleInBoth(page);
  await page.setViewportSize({ width: 390, height: 844 });
  await expectAccessibleInBoth(page);
  await expectWithin(page, 390);
  const context = await browser.newContext({
    locale: "ja-JP",
    baseURL: baseURL ?? "",
    viewport: { width: 390, height: 844 },
  });
  const japanese = await context.newPage();
  await open(japanese, 'up{job="nobody"}', "&as=rows");
  await expect(japanese.getByRole("heading", { name: "探索" })).toBeVisible();
  await expect(japanese.getByText("0系列").first()).toBeVisible();
  await expectWithin(japanese, 390);
  await context.close();
});
