/** Ten instances of which one is slow: their total, each, their spread, the names of lines, and the way by keys. */
import { expect, expectAccessibleInBoth, expectWithin, OWN_SERVER, test } from "./live-test";
import { type Sample, writeSamples } from "./remote-write";
import { type System, start, untilReady } from "./start-system";

const INSTANCES = Array.from({ length: 10 }, (_, index) => `web-${index + 1}`);
const SLOW = "web-3";
const LIMIT = 20;
const PAST_SECONDS = 120;

test.use(OWN_SERVER);

let system: System;
let timer: ReturnType<typeof setInterval>;

test.beforeAll(async () => {
  system = await start("server", () => ({ LOADWATCH_DEFAULT_RULES: "false" }), untilReady);
  const now = Math.floor(Date.now() / 1000) * 1000;
  const past = Array.from({ length: PAST_SECONDS }, (_, second) => now - (PAST_SECONDS - second) * 1000);
  await writeSamples(system.url, past.flatMap(samplesAt));
  timer = setInterval(() => void writeSamples(system.url, samplesAt(Math.floor(Date.now() / 1000) * 1000)), 1000);
});
test.afterAll(async () => {
  clearInterval(timer);
  await system.stop();
});

/** Each uses six connections, the slow one all of its own; requests of a load tool end in two ways. */
function samplesAt(timeMs: number): Sample[] {
  const second = timeMs / 1000;
  const sample = (__name__: string, value: number, labels: Readonly<Record<string, string>>): Sample => ({
    labels: { __name__, job: "shop", ...labels },
    timeMs,
    value,
  });
  return [
    ...INSTANCES.map((instance) => sample("up", 1, { instance })),
    ...INSTANCES.flatMap((instance, place) => {
      const pool = { instance, db_name: "orders" };
      const used = instance === SLOW ? LIMIT : 5 + ((second + place) % 3);
      return [
        sample("go_sql_in_use_connections", used, pool),
        sample("go_sql_idle_connections", LIMIT - used, pool),
        sample("go_sql_open_connections", LIMIT, pool),
        sample("go_sql_max_open_connections", LIMIT, pool),
        sample("go_sql_wait_duration_seconds_total", (second % 1e6) * (instance === SLOW ? 9 : 0.1 * place), pool),
        sample("process_threads", 10 + place, { instance, name: "shop" }),
        sample("node_load1", instance === SLOW ? 7 : 1 + place / 50, { instance }),
      ];
    }),
    ...Object.entries({ ok: 90, timeout: 7, refused: 3 }).map(([outcome, rate]) =>
      sample("loadtest_requests_total", (second % 1e6) * rate, { run: "1", outcome }),
    ),
  ];
}

test("ten instances are a band with the worst by name, and total and each for whoever asks", async ({ page }) => {
  await page.goto(system.url);
  const group = page.getByRole("region", { name: "Connection pool" });
  const waiting = page.locator("#panel-pool-waiting");
  await waiting.scrollIntoViewIfNeeded();
  const state = page.locator("#panel-pool-state");
  await expect(group.getByRole("radio", { name: "Total" })).toBeChecked();
  // Nobody has chosen: one band for one signal, totals for three that share a chart.
  await expect(waiting.getByRole("button", { name: /web-3/ })).toBeVisible();
  await expect(waiting.locator("path.lw-area").first()).toHaveAttribute("d", /Z$/);
  await expect(waiting.getByRole("button", { name: "Median" })).toBeVisible();
  await expect(state.getByRole("button", { name: "In use · orders · Total of 10" })).toBeVisible();
  // Together they use between 65 and 83 at any time, whatever the range: nine of five to seven, and all of the slow one's.
  const reading = await state.locator(".lw-surface").getAttribute("aria-label");
  const [, last, least, most] = reading?.match(/Total of 10: last (\d+), min (\d+), max (\d+)/) ?? [];
  for (const value of [last, least, most]) {
    expect(Number(value)).toBeGreaterThanOrEqual(65);
    expect(Number(value)).toBeLessThanOrEqual(83);
  }

  await group.getByText("Each", { exact: true }).click();
  await expect(page).toHaveURL(/show=pool%3Aeach/);
  await expect(waiting.locator(".lw-line")).toHaveCount(10);
  await group.getByText("Total", { exact: true }).click();
  await expect(waiting.locator(".lw-line")).toHaveCount(1);
  await expect(waiting.locator(".lw-head .lw-legend")).toContainText("Total of 10");
  await page.goto(page.url());
  await expect(group.getByRole("radio", { name: "Total" })).toBeChecked();
});

test("a signal has one chart per instance, from its menu and from a shared address", async ({ page }) => {
  await page.goto(`${system.url}/?open=host#panel-load`);
  await page.getByRole("button", { name: "Menu of Load average" }).press("Enter");
  await page.getByRole("menuitem", { name: "One chart per instance" }).press("Enter");
  await expect(page).toHaveURL(/panel=load&by=instance/);
  const dialog = page.getByRole("dialog", { name: "Load average" });
  await expect(dialog.locator(".lw-line")).toHaveCount(10);
  await expect(dialog.locator(".lw-title")).toHaveText(INSTANCES);
  // All on one scale, and read at one time.
  const scales = await dialog.locator(".lw-plot svg").evaluateAll((plots) => plots.map((plot) => plot.textContent));
  expect(new Set(scales).size).toBe(1);
  const surfaces = dialog.locator(".lw-surface");
  await surfaces.first().press("ArrowLeft");
  await expect(dialog.locator(".lw-crosshair:visible")).toHaveCount(10);
  await expectAccessibleInBoth(page, "[role=dialog]");
  const shared = page.url();
  await dialog.getByRole("checkbox", { name: "One chart per instance" }).press("Space");
  await expect(page).not.toHaveURL(/by=instance/);
  await expect(dialog.locator("figure.lw-chart")).toHaveCount(1);

  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(shared);
  await expect(dialog.locator("figure.lw-chart")).toHaveCount(10);
  await expectWithin(page, 390);
  await page.goto(`${shared.replace(/#.*/, "")}&filter=instance:${SLOW}`);
  await expect(dialog.locator(".lw-title")).toHaveText([SLOW]);
  await page.keyboard.press("Escape");
  await expect(page).not.toHaveURL(/panel=|by=/);
});

test("a card is as high with its names beside the lines, in its title line and below", async ({ page }) => {
  await page.goto(`${system.url}/?show=sockets:each,host:each`);
  const failures = page.locator("#panel-failures");
  await expect(failures.locator(".lw-legend[data-place=ends]")).toBeVisible();
  const body = async (panel: string) =>
    await page.locator(`#panel-${panel} .lw-body`).evaluate((element) => element.getBoundingClientRect().height);
  expect(await body("failures")).toBe(await body("latency"));
  const load = page.locator("#panel-load");
  await load.scrollIntoViewIfNeeded();
  await expect(load.locator(".lw-legend[data-place=below]")).toBeVisible();
  const high = await body("load");
  await page.getByRole("region", { name: "Hosts" }).getByText("Total", { exact: true }).click();
  await expect(load.locator(".lw-head .lw-legend")).toBeVisible();
  expect(await body("load")).toBe(high);
  await failures.scrollIntoViewIfNeeded();
  // No name lies over another or beyond its card.
  const boxes = await failures
    .locator(".lw-legend > li")
    .evaluateAll((items) =>
      items.map((item) => item.getBoundingClientRect()).map(({ top, bottom, right }) => ({ top, bottom, right })),
    );
  const sorted = boxes.toSorted((a, b) => a.top - b.top);
  for (const [place, box] of sorted.entries()) {
    if (place > 0) expect(box.top).toBeGreaterThanOrEqual((sorted[place - 1]?.bottom ?? 0) - 0.5);
  }
  const edge = await failures.evaluate((element) => element.getBoundingClientRect().right);
  for (const { right } of boxes) expect(right).toBeLessThanOrEqual(edge);
  // Names are the legend: one alone, then all.
  await failures.getByRole("button", { name: "timeout" }).click();
  await expect(failures.locator(".lw-line")).toHaveCount(1);
  await failures.getByRole("button", { name: "timeout" }).press("Enter");
  await expect(failures.locator(".lw-line")).toHaveCount(2);
});

test("brackets walk the charts, and the search finds targets and commands", async ({ page }) => {
  await page.goto(system.url);
  await expect(page.locator("#panel-rps .lw-surface")).toHaveAttribute("tabindex", "0");
  await page.keyboard.press("]");
  await expect(page.locator("#panel-rps .lw-surface")).toBeFocused();
  await page.keyboard.press("]");
  const second = await page.evaluate(() => document.activeElement?.closest("article")?.id);
  expect(second).not.toBe("panel-rps");
  await page.keyboard.press("[");
  await expect(page.locator("#panel-rps .lw-surface")).toBeFocused();

  const search = page.getByPlaceholder("Find a panel, page, run, alert, target or command");
  await page.keyboard.press("Control+k");
  await search.fill("web-7");
  await expect(page.getByRole("dialog").getByText("shop: alone on the live page")).toBeVisible();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/filter=instance%3Aweb-7/);
  // The first one has to be gone: it is still there while it closes.
  await expect(search).toHaveCount(0);
  await page.keyboard.press("Control+k");
  await search.fill("dark");
  await expect(page.getByRole("dialog").getByText(/dark/i).first()).toBeVisible();
  await page.keyboard.press("Enter");
  await expect(page.locator("html")).toHaveAttribute("data-mantine-color-scheme", "dark");
});

test("fleets have no violation that axe finds, and stay within a phone", async ({ page }) => {
  await page.goto(system.url);
  await page.locator("#panel-pool-waiting").scrollIntoViewIfNeeded();
  await expect(page.locator("#panel-pool-waiting .lw-area").first()).toBeAttached();
  await expectAccessibleInBoth(page, "#group-pool");
  await page.setViewportSize({ width: 390, height: 844 });
  await expectWithin(page, 390);
});
