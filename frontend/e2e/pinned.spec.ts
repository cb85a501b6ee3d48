/** Panels that are made of an expression or pinned, and removed: on the page and in the file, which is all there is. */
import { existsSync, readFileSync } from "node:fs";
import type { Locator, Page } from "@playwright/test";
import { expect, expectAccessibleInBoth, expectWithin, memoryPanel, openChart, test } from "./live-test";
import { ADMIN, signedIn, startUsersSystem } from "./users-system";

const CPU = "sum by (mode) (rate(node_cpu_seconds_total[30s]))";
const pinned = (page: Page): Locator => page.getByRole("region", { name: /^(Pinned|固定したパネル)$/ });
const choose = async (page: Page, panel: Locator, item: string) => {
  await panel
    .getByRole("button", { name: /^Menu of|メニュー/ })
    .first()
    .click();
  await page.getByRole("menuitem", { name: item }).click();
};

/** Where the page says that the panel stands, for some seconds. */
async function fileOf(page: Page): Promise<string> {
  const text = await page.getByRole("status").filter({ hasText: "pack.yml" }).last().textContent();
  return text?.match(/\/\S+pack\.yml/)?.[0] ?? "";
}

test("an expression becomes a panel in three clicks without a reload, and is removed from its file", async ({
  page,
  browser,
  baseURL,
}) => {
  await page.goto("/explore");
  const editor = page.getByRole("textbox", { name: /^PromQL/ });
  await editor.focus();
  await page.keyboard.insertText(CPU);
  await page.evaluate(() => Object.assign(window, { stays: true }));
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(page.locator(".lw-line").nth(1)).toBeAttached();
  await page.getByRole("button", { name: "Make it a panel" }).click();
  await expect(page.getByRole("dialog").getByLabel("Name of each line")).toHaveValue("{{mode}}");
  await expectAccessibleInBoth(page, "[role=dialog]");
  await page.getByRole("button", { name: "Add to the live page" }).click();
  const file = await fileOf(page);
  const panel = pinned(page).getByRole("article", { name: CPU });
  await expect(panel).toBeFocused();
  await expect(panel.locator(".lw-line").nth(1)).toBeAttached();
  await expect(page.locator("section[id^=group-]").first()).toHaveId("group-pinned");
  expect(readFileSync(file, "utf8")).toContain(CPU);
  expect(await page.evaluate(() => "stays" in window)).toBe(true);
  await expectAccessibleInBoth(page, "#group-pinned");
  await page.setViewportSize({ width: 390, height: 844 });
  await expectWithin(page, 390);

  const context = await browser.newContext({ locale: "ja-JP", baseURL: baseURL ?? "" });
  const japanese = await context.newPage();
  await japanese.goto("/");
  const theirs = pinned(japanese).getByRole("article", { name: CPU });
  await theirs.getByRole("button", { name: /メニュー/ }).click();
  await expect(japanese.getByRole("menuitem", { name: "削除" })).toBeVisible();
  await context.close();

  await choose(page, panel, "Remove");
  await expect(pinned(page)).toHaveCount(0);
  expect(existsSync(file)).toBe(false);
  expect(await page.evaluate(() => "stays" in window)).toBe(true);
});

test("a panel of the page is pinned to the top by keyboard, once, and removed", async ({ page }) => {
  await openChart(page);
  const menu = memoryPanel(page).getByRole("button", { name: /^Menu of/ });
  const pin = page.getByRole("menuitem", { name: "Pin to the top" });
  await menu.focus();
  await page.keyboard.press("Enter");
  await pin.press("Enter");
  const file = await fileOf(page);
  const copy = pinned(page).locator("#panel-pinned-memory");
  await copy.scrollIntoViewIfNeeded();
  await expect(copy.locator(".lw-line").first()).toBeAttached();
  await choose(page, memoryPanel(page), "Pin to the top");
  await expect(page.getByRole("alert").filter({ hasText: "The panel was not added" })).toContainText("pinned-memory");
  await copy.getByRole("button", { name: /^Menu of/ }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Remove" }).press("Enter");
  await expect(pinned(page)).toHaveCount(0);
  expect(existsSync(file)).toBe(false);
});

test("what the loader refuses is said in the dialog, which stays", async ({ page }) => {
  await page.route("**/api/panels", (route) =>
    route.continue({ postData: { ...route.request().postDataJSON(), expressions: ["sum(up"] } }),
  );
  await page.goto(`/explore?expr=${encodeURIComponent(CPU)}`);
  await page.getByRole("button", { name: "Make it a panel" }).click();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog").getByRole("alert")).toContainText("this is no PromQL");
});

test("a viewer explores, and has no button", async ({ browser }) => {
  const system = await startUsersSystem();
  try {
    const setup = await (await browser.newContext()).newPage();
    await setup.goto(system.url + system.setupPath());
    await setup.getByLabel("User name").fill(ADMIN.name);
    await setup.getByLabel("New password").fill(ADMIN.password);
    await setup.getByLabel("The same again").fill(ADMIN.password);
    await setup.getByRole("button", { name: "Make the administrator" }).click();
    await expect(setup.getByRole("link", { name: "Targets" })).toBeVisible();
    await setup.goto(`${system.url}/explore?expr=vector(1)`);
    await expect(setup.getByRole("button", { name: "Make it a panel" })).toBeEnabled();
    const viewer = { name: "vi", role: "viewer", password: "quiet river paper boat" };
    const headers = { origin: system.url };
    expect((await setup.request.post(`${system.url}/api/users`, { data: viewer, headers })).status()).toBe(201);
    const page = await signedIn(browser, system.url, viewer.name, viewer.password);
    await page.goto(`${system.url}/explore?expr=vector(1)`);
    await expect(page.locator(".lw-line").first()).toBeAttached();
    await expect(page.getByRole("button", { name: "Series of each part" })).toBeVisible();
    await expect(page.getByRole("button", { name: "Make it a panel" })).toHaveCount(0);
    const data = { title: "T", expressions: ["up"] };
    expect((await page.request.post(`${system.url}/api/panels`, { data, headers })).status()).toBe(403);
  } finally {
    await system.stop();
  }
});
