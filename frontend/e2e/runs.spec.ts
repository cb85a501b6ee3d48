import type { Page } from "@playwright/test";
import { expect, expectAccessible, expectAccessibleInBoth, expectWithin, test } from "./live-test";
import { addRun, dropFile, importRun, openRun, RESULT } from "./run-fixtures";

/** Names differ from test to test and from one attempt to the next: the server keeps what it was given. */
const unique = (name: string) => `${name}-${Math.random().toString(36).slice(2, 7)}`;

const review = (page: Page) => page.getByRole("region", { name: "Review", exact: true });
const saved = (page: Page) => expect(review(page).getByText(/^Saved/)).toBeVisible();

test("a dropped result becomes a run with its figures and verdict", async ({ page }) => {
  const name = unique("drop");
  const facts = { Scenario: name, Commit: "4f1c2ab9e0d7", "Target rate per second": "40", Thresholds: "p95<100ms" };
  await importRun(page, name, facts);
  const summary = page.getByRole("region", { name: "Summary" });
  await expect(summary.getByRole("row", { name: /^Requests/ })).toContainText("2,400");
  await expect(summary.getByRole("row", { name: /^Success/ })).toContainText("98.00%");
  await expect(summary.getByRole("row")).toHaveCount(9);
  await summary.getByRole("button", { name: /^All \d+ figures/ }).click();
  await expect(summary.getByRole("row", { name: /^Slowest/ })).toBeVisible();
  const thresholds = page.getByRole("region", { name: "Thresholds" });
  await expect(thresholds.getByRole("row", { name: /p95<100ms/ })).toContainText("Passed");
  await expect(page.getByRole("region", { name: "Load generator" })).toContainText("Kept up");
  // Charts are drawn where they are near the eye.
  const latency = page.getByRole("article", { name: "Latency" });
  await latency.scrollIntoViewIfNeeded();
  await expect(latency.locator(".lw-line").first()).toBeAttached();
  await expect(page.getByRole("button", { name: /^Hosts/ })).toBeVisible();
  await expect(page.getByRole("button", { name: /^AWS/ })).toHaveCount(0);
  const endpoints = page.getByRole("region", { name: "Endpoints" });
  await expect(endpoints.getByRole("row")).toHaveCount(3);
  await endpoints.getByRole("button", { name: "Requests" }).click();
  // 1,600 in all: they are told over the seconds that the summary is told over, without the first and the last.
  await expect(endpoints).toContainText("over the steady window");
  await expect(endpoints.getByRole("row").nth(1)).toContainText(/1,5\d\d/);
});

test("a file of no load tool is refused with its reason, and the page goes on", async ({ page }) => {
  await page.goto("/runs");
  await dropFile(page, "shopping.txt", "milk\nbread\n");
  await page.getByRole("button", { name: /^Import \(1\)/ }).click();
  const item = page.getByRole("list", { name: "Imports" }).getByRole("listitem");
  await expect(item.getByText("Not imported")).toBeVisible();
  await expect(item.getByRole("alert")).not.toBeEmpty();
  await item.getByRole("button", { name: "Dismiss" }).click();
  await expect(item).toHaveCount(0);
});

test("the list is searched, filtered, sorted and walked by keyboard, and its address restores it", async ({ page }) => {
  const scenario = unique("list");
  for (const name of ["slow", "fast"]) {
    const shape = { ...RESULT, seconds: 5, failEvery: 0, latencyMs: name === "slow" ? 300 : 5 };
    await addRun(page.request, { name: `${scenario}-${name}`, scenario }, shape);
  }
  await page.goto("/runs");
  const rows = page.locator("tr[data-list-item]");
  const search = page.getByRole("searchbox", { name: "Search in names, tags and parameters" });
  await search.fill(`${scenario}-slow`);
  await expect(rows).toHaveCount(1);
  await search.fill("");
  await expect(page).not.toHaveURL(/q=/);
  await page.getByLabel("Scenario", { exact: true }).selectOption(scenario);
  await expect(rows).toHaveCount(2);
  await page.getByLabel("Result", { exact: true }).selectOption("passed");
  await expect(page.getByText("No run matches")).toBeVisible();
  await page.getByLabel("Result", { exact: true }).selectOption("");
  await expect(rows).toHaveCount(2);
  await page.getByRole("button", { name: "Columns" }).click();
  await page.getByRole("checkbox", { name: "Load", exact: true }).click();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("columnheader", { name: "Load", exact: true })).toBeVisible();
  await page.getByRole("button", { name: "p95" }).click();
  await expect(page.getByRole("columnheader", { name: "p95" })).toHaveAttribute("aria-sort", "descending");
  await expect(rows.first()).toContainText("slow");
  await expect(page).toHaveURL(new RegExp(`scenario=${scenario}.*sort=p95.*column=load`));

  await page.reload();
  await expect(rows).toHaveCount(2);
  await expect(rows.first()).toContainText("slow");
  await page.locator("h1").click();
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await expect(page.getByText("2 selected")).toBeVisible();
  await expect(page.getByRole("link", { name: "Compare" })).toHaveAttribute("href", /\/runs\/compare\?run=.+&run=.+/);
  await page.keyboard.press("k");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1, name: `${scenario}-slow` })).toBeVisible();
});

test("rows stay where they are while a pointer is on them, and a sort order that is asked for counts at once", async ({
  page,
}) => {
  const scenario = unique("hold");
  const add = (name: string, latencyMs: number, minute: number) =>
    addRun(
      page.request,
      { name: `${scenario}-${name}`, scenario },
      { ...RESULT, seconds: 5, latencyMs, startMs: RESULT.startMs + minute * 60_000 },
    );
  await add("slow", 300, 0);
  await add("fast", 5, 1);
  await page.goto(`/runs?scenario=${scenario}`);
  const rows = page.locator("tr[data-list-item]");
  await expect(rows).toHaveCount(2);
  await expect(rows.first()).toContainText("fast");
  await rows.first().hover();
  await expect(page.getByText("order held while you look")).toBeVisible();
  const box = await rows.first().boundingBox();
  await add("newest", 50, 2);
  await expect(rows).toHaveCount(3);
  await expect(rows.last()).toContainText("newest");
  expect(await rows.first().boundingBox()).toEqual(box);
  await page.mouse.move(0, 0);
  await expect(rows.first()).toContainText("newest");
  await expect(page.getByText("order held while you look")).toHaveCount(0);

  await rows.first().getByRole("checkbox").focus();
  await expect(page.getByText("order held while you look")).toBeVisible();
  await page.getByRole("button", { name: "p95" }).click();
  await expect(rows.first()).toContainText("slow");
});

test("an address of before shows what it showed, as a filter to go on from", async ({ page }) => {
  const scenario = unique("old");
  await addRun(
    page.request,
    { name: `${scenario}-a`, scenario, tag: "x y", parameter: "pool=8" },
    { ...RESULT, seconds: 5 },
  );
  await addRun(page.request, { name: `${scenario}-b`, scenario, parameter: "pool=32" }, { ...RESULT, seconds: 5 });
  const rows = page.locator("tr[data-list-item]");
  await page.goto(`/runs?scenario=${scenario}&tag=x+y`);
  await expect(rows).toHaveCount(1);
  await expect(page.getByLabel("Tag", { exact: true })).toHaveValue("x y");
  await expect(rows.first()).toContainText("pool=8");
  await expect(rows.first().getByRole("img", { name: "p95 over the run" })).toBeVisible();
  await page.goto(
    `/runs?where=${encodeURIComponent(`scenario:${scenario} pool=32 p95>1ms`)}&column=limit&column=param.pool`,
  );
  await expect(rows).toHaveCount(1);
  await expect(page.getByText("Not applied, out of an older address: p95>1ms")).toBeVisible();
  await expect(page.getByRole("columnheader").last()).toHaveText("pool");
  await expect(rows.first()).toContainText("32");
});

test("a drag over a chart sets the steady window, and the one found comes back", async ({ page }) => {
  await openRun(page, { name: unique("steady") });
  await page.getByRole("button", { name: "Adjust" }).click();
  const chart = page.getByRole("article", { name: "Requests by outcome" });
  // What comes in late above the chart moves it.
  for (const name of ["Requests by outcome", "Latency"])
    await expect(page.getByRole("article", { name }).locator(".lw-line").first()).toBeAttached();
  await expect(page.getByLabel("Loading")).toHaveCount(0);
  const surface = chart.locator(".lw-surface");
  await surface.scrollIntoViewIfNeeded();
  const box = await surface.boundingBox();
  if (box === null) throw new Error("the chart has no surface");
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * 0.3, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, y, { steps: 5 });
  await page.mouse.up();
  const read = async (label: string) => Number(await page.getByLabel(label).inputValue());
  await expect.poll(() => read("From, s")).toBeGreaterThan(10);
  await expect.poll(() => read("To, s")).toBeLessThan(50);
  const [from, to] = [await read("From, s"), await read("To, s")];
  await expect(page.getByLabel("Figures of the new window")).toContainText("40/s");
  await page.getByRole("button", { name: "Use this window" }).click();
  await expect(page.getByText(/^Set by hand/)).toBeVisible();
  const requests = page.getByRole("region", { name: "Summary" }).getByRole("row", { name: /^Requests/ });
  await expect(requests).toContainText(((to - from) * RESULT.rate).toLocaleString("en"));

  await page.reload();
  await expect(page.getByText(/^Set by hand/)).toBeVisible();
  await page.getByRole("button", { name: "Back to the one found" }).click();
  await expect(page.getByText(/^Set by hand/)).toBeHidden();
});

test("a review saves itself, survives a reload and an absent server, and shows what was measured", async ({ page }) => {
  await openRun(page, { name: unique("review") });
  const approach = page.getByRole("textbox", { name: "Approach" });
  await approach.fill("bounded pool of 30");
  await page.getByRole("button", { name: "Add an expectation" }).click();
  await page.getByLabel("Expectation 1", { exact: true }).fill("p95<100ms");
  await saved(page);
  await expect(review(page).getByRole("row", { name: /p95<100ms/ })).toContainText("Passed");
  await page.reload();
  await expect(approach).toHaveValue("bounded pool of 30");
  await expect(page.getByLabel("Expectation 1", { exact: true })).toHaveValue("p95<100ms");

  await page.route("**/review", (route) => (route.request().method() === "PUT" ? route.abort() : route.continue()));
  await page.getByRole("textbox", { name: "Outcome" }).fill("typed while the server was away");
  await expect(page.getByText("Server away; saved as soon as it answers")).toBeVisible();
  await expect(page.getByRole("textbox", { name: "Outcome" })).toHaveValue("typed while the server was away");
  await page.unroute("**/review");
  await saved(page);
  await page.getByRole("button", { name: "History" }).click();
  const drawer = page.getByRole("dialog", { name: "History" });
  await drawer.getByRole("button", { name: "Restore version 1" }).click();
  await expect(page.getByRole("textbox", { name: "Outcome" })).toHaveValue("");
  await saved(page);
});

test("somebody who saved meanwhile is overwritten, or what they saved is shown, by choice", async ({ page }) => {
  const id = await openRun(page, { name: unique("conflict") });
  const approach = page.getByRole("textbox", { name: "Approach" });
  await approach.fill("first words");
  await saved(page);
  const address = `/api/runs/${id}/review`;
  const writeBeside = async (text: string) => {
    const { version } = (await (await page.request.get(address)).json()) as { version: number };
    const data = { approach: text, feedback: "looks good", version, author: "mika" };
    expect((await page.request.put(address, { data })).ok()).toBe(true);
  };
  const alert = page.getByRole("alert", { name: "Changed by somebody else" });
  await writeBeside("of somebody else");
  await approach.fill("my own words");
  await expect(alert).toContainText("Changed by mika");
  await expectAccessible(page);
  await alert.getByRole("button", { name: "Overwrite" }).click();
  await expect(alert).toHaveCount(0);
  await saved(page);
  await expect.poll(async () => (await (await page.request.get(address)).json()).approach).toBe("my own words");

  await writeBeside("once more");
  await approach.fill("my last words");
  await alert.getByRole("button", { name: "Reload" }).click();
  await expect(approach).toHaveValue("once more");
  await expect(page.getByRole("textbox", { name: "Feedback" })).toHaveValue("looks good");
});

test("a run is renamed, pinned, shared, and deleted with a word on what goes", async ({ page }) => {
  const name = unique("manage");
  await openRun(page, { name, scenario: name });
  await page.getByRole("button", { name: "Rename" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill(`${name} renamed`);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1, name: `${name} renamed` })).toBeVisible();

  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Pin as the scenario's baseline" }).click();
  await expect(page.getByText("baseline", { exact: true })).toBeVisible();

  await page.getByRole("button", { name: "Share" }).click();
  const share = page.getByRole("dialog", { name: "Share the report" });
  await share.getByRole("button", { name: "Make a link" }).click();
  const link = await share.getByText(/\/share\//).innerText();
  const reader = await page.context().newPage();
  await reader.goto(link.trim());
  await expect(reader.getByRole("heading", { level: 1, name: `${name} renamed` })).toBeVisible();
  await expectAccessible(reader);
  await share.getByRole("button", { name: /^Revoke/ }).click();
  await expect(share.getByRole("button", { name: /^Revoke/ })).toHaveCount(0);
  await reader.reload();
  await expect(reader.getByText("It was revoked, has expired, or is not whole.")).toBeVisible();
  await expectAccessible(reader);
  await reader.close();
  await page.keyboard.press("Escape");

  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: /^Delete/ }).click();
  const dialog = page.getByRole("dialog", { name: /^Delete/ });
  await expect(dialog).toContainText("2,400 records");
  await expect(dialog).toContainText("scenario's baseline");
  await dialog.getByRole("button", { name: "Delete for good" }).click();
  await expect(page).toHaveURL(/\/runs$/);
  await expect(page.getByRole("link", { name: `${name} renamed` })).toHaveCount(0);
});

test("list and run page have no violation that axe finds, in either scheme", async ({ page }) => {
  await openRun(page, { name: unique("axe"), threshold: "p95<1ms" });
  // Charts are drawn where they are near the eye.
  const latency = page.getByRole("article", { name: "Latency" });
  await latency.scrollIntoViewIfNeeded();
  await expect(latency.locator(".lw-line").first()).toBeAttached();
  await page.getByRole("textbox", { name: "Approach" }).fill("x");
  await saved(page);
  await page.getByRole("button", { name: "Adjust" }).click();
  await expectAccessibleInBoth(page);
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Edit facts and thresholds" }).click();
  await expect(page.getByRole("dialog", { name: "Edit facts and thresholds" })).toBeVisible();
  await expectAccessibleInBoth(page, "[role=dialog]");
  await page.keyboard.press("Escape");

  await page.goto("/runs");
  await page.locator("tr[data-list-item] input").first().check();
  await expect(page.getByText("1 selected")).toBeVisible();
  await expectAccessibleInBoth(page);
});

test("a narrow screen shows cards and nothing beyond its edge", async ({ page }) => {
  await openRun(page, { name: unique("narrow") });
  await page.setViewportSize({ width: 390, height: 844 });
  await expect(page.getByRole("heading", { name: "Summary" })).toBeVisible();
  await expectWithin(page, 390);
  await expectAccessible(page);
  await page.goto("/runs");
  await expect(page.locator("li[data-list-item]").first()).toBeVisible();
  await expectWithin(page, 390);
});
