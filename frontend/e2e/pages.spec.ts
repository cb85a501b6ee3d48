import { expect, expectAccessible, expectWithin, openChart, test } from "./live-test";

test("the targets page shows every collector, sorted and filtered", async ({ page }) => {
  await page.goto("/targets");
  const table = page.getByRole("table").first();
  await expect(table.getByRole("row", { name: /host .*host/ }).first()).toContainText("Up");
  await page.getByRole("searchbox", { name: /^Filter by/ }).fill("sockets");
  await expect(table.getByRole("row")).toHaveCount(2);
  await page.getByRole("searchbox", { name: /^Filter by/ }).fill("no such thing");
  await expect(page.getByText("No collector matches")).toBeVisible();
  await page.getByRole("searchbox", { name: /^Filter by/ }).fill("");
  await page.getByRole("button", { name: "Collector" }).click();
  await expect(page.getByRole("columnheader", { name: "Collector" })).toHaveAttribute("aria-sort", "ascending");
});

test("the language changes at once and is remembered", async ({ page }) => {
  await page.goto("/");
  await page.getByRole("button", { name: "Settings" }).click();
  await page.getByRole("combobox", { name: "Language" }).click();
  await page.getByRole("option", { name: "日本語" }).click();
  await expect(page.getByRole("link", { name: "ターゲット" })).toBeVisible();
  await expect(page.locator("html")).toHaveAttribute("lang", "ja");
  await page.goto("/targets");
  await expect(page.getByRole("heading", { name: "ターゲット" })).toBeVisible();
});

test("a browser that prefers Japanese gets Japanese", async ({ browser, baseURL }) => {
  const context = await browser.newContext({ locale: "ja-JP", baseURL: baseURL ?? "" });
  const page = await context.newPage();
  await page.goto("/");
  await expect(page.getByRole("heading", { name: "余裕" })).toBeVisible();
  await context.close();
});

test("everything can be reached by keyboard", async ({ page }) => {
  const panel = await openChart(page);
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toBeVisible();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  const jump = page.getByPlaceholder("Find a panel, page, run, alert, target or command");
  await jump.fill("CPU");
  await expect(page.getByRole("dialog").getByText("Hosts").first()).toBeVisible();
  // What is not on the page without data is no place to jump to.
  await expect(page.getByRole("dialog").getByText(/AWS/)).toHaveCount(0);
  await jump.fill("15 min");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/from=now-15m/);
  await panel.locator(".lw-surface").focus();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog", { name: "New annotation" })).toBeVisible();
  await page.keyboard.press("Escape");
  await page.locator("body").click({ position: { x: 2, y: 400 } });
  // The second key must follow within a second, which the first attempt of a busy machine may miss.
  await expect(async () => {
    await page.keyboard.press("g");
    await page.keyboard.press("t");
    await expect(page).toHaveURL(/\/targets/, { timeout: 5_000 });
  }).toPass({ timeout: 180_000 });
});

test("a narrow screen shows one column, nothing beyond its edge, and the menu", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await openChart(page);
  await expectWithin(page, 390);
  await page.getByRole("button", { name: "Menu", exact: true }).click();
  await page.getByRole("dialog").getByRole("link", { name: "Targets" }).click();
  await expect(page.getByRole("listitem").filter({ hasText: "Up" }).first()).toBeVisible();
  await expectWithin(page, 390);
});

test("a server that goes away is said, and the page recovers", async ({ page }) => {
  await openChart(page);
  await page.route("**/api/**", (route) => route.abort());
  await expect(page.getByText("Server does not answer").first()).toBeVisible();
  await page.unroute("**/api/**");
  await expect(page.getByText(/^Last sample/).first()).toBeVisible();
});

test("a server that only this machine reaches says so, and how to change that", async ({ page }) => {
  await page.goto("/access");
  await expect(page.getByText("This server asks nobody to sign in")).toBeVisible();
  await page.getByText("How to let people sign in with names of their own").click();
  await expect(page.getByText("LOADWATCH_ACCESS=users loadwatch server")).toBeVisible();
  await expectAccessible(page);
});
