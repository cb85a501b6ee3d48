import { expect, expectAccessibleInBoth, openChart, test } from "./live-test";

/** Those that no other test looks at with axe, and what each is called. */
const PAGES = [
  ["/runs", "Runs"],
  ["/store", "Targets"],
  ["/alerts/receivers", "Receivers"],
  ["/no-such-page", "There is no such page"],
] as const;

test("no page has a violation that axe finds, in either scheme", async ({ page }) => {
  await openChart(page);
  await expectAccessibleInBoth(page);

  await page.getByRole("button", { name: /Choose a time range/ }).click();
  await expect(page.getByRole("button", { name: "Apply range" })).toBeVisible();
  await expectAccessibleInBoth(page, ".mantine-Popover-dropdown");
  await page.keyboard.press("Escape");

  await page.getByRole("button", { name: "Settings" }).click();
  await expect(page.getByRole("combobox", { name: "Language" })).toBeVisible();
  await expectAccessibleInBoth(page, ".mantine-Popover-dropdown");
  await page.keyboard.press("Escape");

  await page.keyboard.press("n");
  await expect(page.getByRole("dialog", { name: "New annotation" })).toBeVisible();
  await expectAccessibleInBoth(page, "[role=dialog]");
  await page.keyboard.press("Escape");

  await page.goto("/targets");
  await expect(page.getByRole("table").first()).toBeVisible();
  await expectAccessibleInBoth(page);

  for (const [path, heading] of PAGES) {
    await page.goto(path);
    await expect(page.getByRole("heading", { level: 1, name: heading })).toBeVisible();
    await expectAccessibleInBoth(page);
    // On a phone, where tables scroll.
    await page.setViewportSize({ width: 390, height: 844 });
    await expectAccessibleInBoth(page);
    await page.setViewportSize({ width: 1280, height: 860 });
  }
});
