import { drawnPath, expect, expectAccessibleInBoth, expectWithin, memoryPanel, openChart, test } from "./live-test";

test("samples are drawn and move, and pause holds them still", async ({ page }) => {
  const panel = await openChart(page);
  const first = await drawnPath(panel);
  await expect.poll(() => drawnPath(panel)).not.toBe(first);

  await page.keyboard.press("p");
  await expect(page).toHaveURL(/paused=\d{13}/);
  await expect(page.getByRole("button", { name: /^Paused/ })).toBeVisible();
  // The answer for the moment of the pause may still be under way; then nothing changes any more.
  let held = "";
  await expect
    .poll(async () => {
      const before = await drawnPath(panel);
      await page.waitForTimeout(4000);
      held = await drawnPath(panel);
      return held === before;
    })
    .toBe(true);
  await page.waitForTimeout(2500);
  expect(await drawnPath(panel)).toBe(held);

  await page.keyboard.press("p");
  await expect(page).not.toHaveURL(/paused/);
  await expect.poll(() => drawnPath(panel)).not.toBe(held);
});

test("a drag zooms into a fixed range, Ctrl+Z goes back, and the address restores it", async ({ page }) => {
  const panel = await openChart(page);
  const surface = panel.locator(".lw-surface");
  const width = await surface.evaluate((element) => element.getBoundingClientRect().width);
  // There is something to zoom into: of the first seconds after a start all would lie beyond the drag's end.
  await expect.poll(async () => Number.parseFloat((await drawnPath(panel)).slice(1))).toBeLessThan(width * 0.95);
  // What is drawn above it late moves the chart, also in the middle of a drag.
  await expect(async () => {
    const box = await surface.boundingBox();
    if (box === null) throw new Error("the chart has no surface");
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width * 0.5, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.99, y, { steps: 5 });
    await page.mouse.up();
    await expect(page).toHaveURL(/from=\d{4}-\d\d-\d\dT/, { timeout: 5_000 });
  }).toPass({ timeout: 180_000 });
  await expect(page.getByRole("button", { name: /^Fixed range/ })).toBeVisible();
  const zoomed = page.url();
  const label = await page.getByRole("button", { name: /Choose a time range/ }).textContent();

  await page.keyboard.press("Control+z");
  await expect(page).not.toHaveURL(/from=/);
  await expect(page.getByRole("button", { name: /Choose a time range/ })).toContainText("Last 5 minutes");

  await page.goto(`${zoomed}#panel-memory`);
  await expect(page.getByRole("button", { name: /Choose a time range/ })).toHaveText(label ?? "");
  await expect.poll(() => drawnPath(memoryPanel(page))).not.toBe("");
});

test("filters, folded groups and the time zone are in the address", async ({ page }) => {
  await openChart(page);
  await page.getByRole("button", { name: "Fold Hosts" }).click();
  await expect(page).toHaveURL(/folded=host/);
  await page.keyboard.press("u");
  await expect(page).toHaveURL(/tz=utc/);
  await page.getByRole("button", { name: "Filters" }).click();
  await page.getByRole("combobox", { name: "Job" }).click();
  await page.getByRole("option", { name: "host" }).click();
  await expect(page).toHaveURL(/filter=job%3Ahost/);

  await page.goto(page.url());
  await expect(page.getByRole("button", { name: "Unfold Hosts" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Filters (1)" })).toBeVisible();
});

test("groups below the first stand folded until somebody opens them, and stay open in the address", async ({
  page,
}) => {
  await page.goto("/");
  await expect(page.getByRole("button", { name: "Fold Mission" })).toBeVisible();
  await page.getByRole("button", { name: "Unfold Sockets" }).click();
  await expect(page).toHaveURL(/open=sockets/);
  await expect(page.locator("#group-sockets .lw-line").first()).toBeAttached();
  await page.goto(page.url());
  await expect(page.getByRole("button", { name: "Fold Sockets" })).toBeVisible();
  await page.getByRole("button", { name: "Fold Sockets" }).click();
  await expect(page).toHaveURL(/folded=sockets/);
  await expect(page).not.toHaveURL(/open=/);
});

test("groups are hidden and moved by keys, stay so in this browser, and a link opens a hidden one", async ({
  page,
}) => {
  await openChart(page);
  const headings = () => page.locator("main h2 button[aria-expanded]").allTextContents();
  const packs = await headings();
  expect(packs).toContain("Hosts");
  await page.goto("/");
  const control = page.getByRole("button", { name: "Groups", exact: true });
  await control.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Groups" });
  const hosts = dialog.getByRole("checkbox", { name: "Hosts" });
  await hosts.press("Space");
  await expect(hosts).not.toBeChecked();
  await dialog.getByRole("checkbox", { name: "Sockets" }).press("Alt+ArrowUp");
  await expect(dialog.getByRole("status")).toHaveText(/^Sockets: place \d+ of \d+$/);
  await expect(dialog.getByRole("checkbox", { name: "Sockets" })).toBeFocused();
  const up = dialog.getByRole("button", { name: "Move up: Sockets" });
  // Up to the first place: the button keeps the focus, also where it has nothing to do any more.
  await up.focus();
  const first = dialog.getByRole("listitem").first();
  await expect(async () => {
    await page.keyboard.press("Enter");
    await expect(up).toBeFocused();
    await expect(first).toContainText("Sockets", { timeout: 1000 });
  }).toPass();
  await page.keyboard.press("Enter");
  await expect(up).toBeFocused();
  await expectAccessibleInBoth(page, "[role=dialog]");
  await page.keyboard.press("Escape");
  const hidden = page.getByRole("button", { name: "1 group hidden" });
  await expect(hidden).toBeFocused();
  const chosen = ["Sockets", ...packs.filter((one) => one !== "Sockets" && one !== "Hosts")];
  await expect.poll(headings).toEqual(chosen);

  await page.goto("/");
  await expect(hidden).toBeVisible();
  await expect.poll(headings).toEqual(chosen);
  // The address names a panel of the hidden group: beside the others, and alone.
  await page.goto("/#panel-memory");
  await expect(memoryPanel(page)).toBeFocused();
  await page.goto("/?panel=memory");
  await expect(page.getByRole("dialog", { name: "Memory" }).locator(".lw-line").first()).toBeAttached();
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto("/");
  await hidden.press("Enter");
  await expect(dialog).toBeVisible();
  await expectWithin(page, 390);
  await dialog.getByRole("button", { name: "Reset" }).press("Enter");
  await expect(hosts).toBeChecked();
  await page.keyboard.press("Escape");
  await expect.poll(headings).toEqual(packs);
});

test("groups of what is not there are absent, folded too", async ({ page }) => {
  await openChart(page);
  await page.getByRole("button", { name: "Unfold all", exact: true }).click();
  await page.getByRole("button", { name: "Fold all", exact: true }).click();
  await expect(page.getByRole("button", { name: "Unfold Hosts" })).toBeVisible();
  await expect(page.getByRole("button", { name: /AWS/ })).toHaveCount(0);
});

test("an address that cannot be read says so and shows the default", async ({ page }) => {
  await page.goto("/?from=yesterdayish&to=now");
  await expect(page.getByRole("alert").filter({ hasText: "could not be read" })).toBeVisible();
  await expect(page.getByRole("button", { name: /Choose a time range/ })).toContainText("Last 5 minutes");
});

test("the nearest limit is what is read first, the title repeats it, and others stand beside it once each", async ({
  page,
}) => {
  await page.goto("/");
  const limits = page.getByRole("region", { name: "Headroom" }).locator("[data-limit]");
  await expect(limits.first()).toContainText("left");
  await expect(page).toHaveTitle(/left: .+ · Loadwatch/);
  const names = await limits.evaluateAll((found) => found.map((one) => one.getAttribute("data-limit")));
  expect(names.length).toBeGreaterThan(1);
  expect(new Set(names).size).toBe(names.length);
});

test("a chart can be seen alone, saved as CSV and PNG", async ({ page }) => {
  const panel = await openChart(page);
  const menu = panel.getByRole("button", { name: "Menu of Memory" });
  await menu.click();
  const csv = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: "Save as CSV" }).click();
  expect((await csv).suggestedFilename()).toMatch(/^loadwatch-memory-.*\.csv$/);
  await menu.click();
  const png = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: "Save as PNG" }).click();
  expect((await png).suggestedFilename()).toMatch(/\.png$/);
  await menu.click();
  await page.getByRole("menuitem", { name: "Full screen" }).click();
  await expect(page).toHaveURL(/panel=memory/);
  await expect(page.getByRole("dialog", { name: "Memory" }).locator(".lw-line").first()).toBeAttached();
  await page.keyboard.press("Escape");
  await expect(page).not.toHaveURL(/panel=/);
});

test("more tabs than a browser has connections have their figures, by one stream", async ({ page, context }) => {
  const streams = new Set<string>();
  const pages = [page];
  for (let number = 1; number < 8; number += 1) pages.push(await context.newPage());
  for (const [number, one] of pages.entries()) {
    one.on("response", (response) => {
      if (new URL(response.url()).pathname === "/api/live") streams.add(String(number));
    });
    await openChart(one, "/?folded=mission&open=host");
    // A browser draws the tab that is seen; here all are.
    await one.keyboard.press("p");
  }
  expect(streams.size).toBe(1);
});
