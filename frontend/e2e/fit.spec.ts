/** Pages at 200 % zoom, by keyboard from below, on a phone while a run lasts, and in four sizes of letters. */
import { clipped, expectClearFocus, expectRoom, letterSizes } from "./fit";
import { expect, memoryPanel, openChart, test } from "./live-test";
import { addRun, openRun } from "./run-fixtures";

const unique = (name: string) => `${name}-${Math.random().toString(36).slice(2, 7)}`;

/** A run that lasts, with all that the cockpit can say. */
async function underWay(request: Parameters<typeof addRun>[0]) {
  const name = unique("checkout-soak-with-a-long-name");
  const facts = { tool: "vegeta", target_rate: 600, target_duration_seconds: 3600, parameters: { pool: "10" } };
  const data = { name, scenario: "soak", thresholds: ["p95<300ms"], ...facts };
  const { id } = (await (await request.post("/api/runs", { data })).json()) as { id: string };
  const progress = { at_ms: Date.now(), elapsed_seconds: 600, requests: 360_000, rate: 598, failures: 184_860 };
  await request.post(`/api/runs/${id}/progress`, { data: progress });
  return { name, finish: () => request.post(`/api/runs/${id}/finish`, { data: { ended_ms: Date.now() } }) };
}

test("what gets the focus from below stands clear of header, run, toolbar and nav", async ({ page, request }) => {
  const run = await underWay(request);
  await openChart(page);
  await expect(page.getByRole("list", { name: "Runs under way" })).toContainText(run.name);
  await memoryPanel(page)
    .getByRole("button", { name: /^Menu of/ })
    .focus();
  await expectClearFocus(page, 30);
  await run.finish();

  await openRun(page, { name: unique("focus"), threshold: "p95<100ms" });
  await page.getByRole("textbox", { name: "Approach" }).focus();
  await expectClearFocus(page, 30);
});

test("at 200 % zoom nothing is cut, and what sticks leaves room to read", async ({ page, request }) => {
  const scenario = unique("zoom");
  const runs = [await addRun(request, { name: `${scenario}-1`, scenario, threshold: "p95<100ms" })];
  runs.push(await addRun(request, { name: `${scenario}-2`, scenario, commit: "bbbb222" }));
  const run = await underWay(request);
  const paths = ["/", `/runs/${runs[0]}`, `/runs/compare?run=${runs[0]}&run=${runs[1]}`, "/runs", "/alerts"];
  for (const [width, height] of [
    [720, 450],
    [640, 360],
  ] as const) {
    await page.setViewportSize({ width, height });
    for (const path of paths) {
      await page.goto(path);
      await expect(page.getByRole("heading", { level: 1 })).toBeAttached();
      await expect(page.getByRole("main").getByRole("status", { name: /^Loading/ })).toHaveCount(0);
      await expectRoom(page, width, height, `${path} at ${width}`);
    }
    await page.goto("/");
    await expect(page.getByRole("list", { name: "Runs under way" })).toContainText(run.name);
    await page.getByRole("button", { name: "Menu", exact: true }).click();
    await page.getByRole("dialog").getByRole("link", { name: "Targets" }).click();
    await expect(page.getByRole("heading", { level: 1, name: "Targets" })).toBeVisible();
  }
  await run.finish();
});

test("on a phone the run under way stays in sight, in 72 pixels, whole", async ({ page, request }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  const run = await underWay(request);
  await openChart(page);
  const line = page.getByRole("list", { name: "Runs under way" }).getByRole("listitem").filter({ hasText: run.name });
  await expect(line).toContainText("598/s of 600/s");
  await page.evaluate(() => scrollTo(0, 900));
  await expect(line).toBeInViewport({ ratio: 1 });
  expect((await line.boundingBox())?.height).toBeLessThanOrEqual(72);
  expect(await clipped(line.locator("xpath=ancestor::section[1]"))).toEqual([]);
  await run.finish();
});

test("letters are of four sizes, in forms and menus too", async ({ page, request }) => {
  const scenario = unique("letters");
  await addRun(request, { name: scenario, scenario, threshold: "p95<1ms" });
  const expectScale = async (what: string) => {
    const odd = Object.entries(await letterSizes(page)).filter(([size]) => !["12", "14", "20", "28"].includes(size));
    expect(odd, what).toEqual([]);
  };
  await openChart(page);
  await expectScale("live");
  await page.getByRole("button", { name: /Choose a time range/ }).click();
  await expectScale("time range");
  await page.goto("/runs");
  await expect(page.locator("tr[data-list-item]").first()).toBeVisible();
  await expectScale("runs");
  await page.goto(`/runs/trend?scenario=${scenario}`);
  await page.getByRole("combobox", { name: "Figure" }).click();
  await expect(page.getByRole("option").first()).toBeVisible();
  await expectScale("options in groups");
  await page.goto("/alerts/silences");
  await page
    .getByRole("button", { name: /silence/i })
    .first()
    .click();
  await page.getByRole("dialog").getByRole("button", { name: "Silence", exact: true }).click();
  await expectScale("errors of a form");
});
