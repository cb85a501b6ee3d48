import type { Locator, Page } from "@playwright/test";
import { type AlertSystem, BROKEN_RULES, RULES, startAlertSystem } from "./alert-system";
import { expect, expectAccessible, expectAccessibleInBoth, expectWithin, OWN_SERVER, test } from "./live-test";

test.use(OWN_SERVER);

let system: AlertSystem;
test.beforeAll(async () => {
  system = await startAlertSystem();
});
test.afterAll(async () => {
  await system.stop();
});

/** Names differ from one attempt to the next: the server keeps what it was told. */
const unique = (name: string) => `${name}-${Math.random().toString(36).slice(2, 7)}`;

const card = (page: Page, name: string): Locator => page.locator("main [data-list-item]").filter({ hasText: name });

interface Fired {
  readonly found: Locator;
  readonly queue: string;
  /** Makes the queue short again, and waits until the page says so. */
  recover(): Promise<void>;
}

/** A queue that is too long, shown on the page of alerts. */
async function fire(page: Page, name: string): Promise<Fired> {
  const queue = unique(name);
  await system.queue(queue, 500);
  await page.goto(`${system.url}/alerts?search=${queue}`);
  const found = card(page, queue);
  await expect(found).toContainText("Firing");
  const recover = async () => {
    await system.queue(queue, 1);
    // What is pointed at or has the focus keeps its place.
    await page.mouse.move(0, 0);
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    await expect(found).toHaveCount(0);
  };
  return { found, queue, recover };
}

test("an alert comes and goes without a reload, with its figures, in the bell and in the title", async ({ page }) => {
  await page.goto(`${system.url}/alerts`);
  await expect(page.getByText("Nothing is firing")).toBeVisible();
  await expect(page.getByText(/2 rules watch · last evaluated/)).toBeVisible();
  const queue = unique("orders");
  await system.queue(queue, 500);
  const found = card(page, queue);
  await expect(found).toContainText("Firing");
  await expect(found).toContainText("critical");
  await expect(found).toContainText(`${queue} holds 500 messages`);
  await expect(found).toContainText("500");
  await expect(found).toContainText("fires above 100");
  await expect(found).toContainText(/for \d+ (s|ms), since \d\d:\d\d:\d\d/);
  await expect(found.getByRole("link", { name: "Runbook" })).toHaveAttribute(
    "href",
    "https://example.org/runbooks/queue",
  );
  await expect(page.getByRole("navigation", { name: "Pages", exact: true })).toContainText("1 firing");
  await expect(page).toHaveTitle(/^\(1\) Alerts/);
  await system.queue(queue, 5);
  await expect(page.getByText("Nothing is firing")).toBeVisible();
  await expect(page).toHaveTitle(/^Alerts/);
});

test("somebody acknowledges with a word, others read it, and it can be taken back", async ({ page }) => {
  const { found, recover } = await fire(page, "ack");
  await found.getByRole("button", { name: /^Acknowledge/ }).click();
  const dialog = page.getByRole("dialog", { name: /^Acknowledge/ });
  await dialog.getByRole("textbox", { name: "Comment" }).fill("adding consumers");
  await dialog.getByRole("button", { name: "Acknowledge" }).click();
  await expect(found).toContainText(/Acknowledged by local .+ ago: adding consumers/);
  await page.reload();
  await expect(found).toContainText("adding consumers");
  await found.getByRole("button", { name: /^Take back/ }).click();
  await expect(found.getByRole("button", { name: /^Acknowledge/ })).toBeVisible();
  await recover();
});

test("a silence begins with the alert's labels and a reason, says what it matches and wants one", async ({ page }) => {
  const { found, recover } = await fire(page, "silence");
  await found.getByRole("button", { name: /^Silence/ }).click();
  const dialog = page.getByRole("dialog", { name: /^Silence/ });
  await expect(dialog.getByRole("textbox", { name: "Value 1" })).toHaveValue("QueueTooLong");
  await expect(dialog.getByText(/Alerts of now that match: 1\./)).toBeVisible();
  await dialog.getByRole("textbox", { name: "Label 2" }).fill("no-such label");
  await expect(dialog.getByText("A label's name has letters")).toBeVisible();
  await dialog.getByRole("textbox", { name: "Label 2" }).fill("queue");
  await dialog.getByText("30 min").click();
  await expect(dialog.getByRole("textbox", { name: "Why" })).toHaveValue(/^QueueTooLong · /);
  await dialog.getByRole("textbox", { name: "Why" }).clear();
  await dialog.getByRole("button", { name: "Silence", exact: true }).click();
  await expect(dialog.getByText("Say why.")).toBeVisible();
  await dialog.getByRole("textbox", { name: "Why" }).fill("moving the queue");
  await dialog.getByRole("button", { name: "Silence", exact: true }).click();
  await expect(found).toContainText(/Silenced until .+: moving the queue/);
  await recover();
});

test("search and filters stand in the address, and pending alerts come after firing ones", async ({ page }) => {
  const name = unique("both");
  await system.queue(`${name}-queue`, 500);
  await system.service(`${name}-service`, 0.9);
  await page.goto(`${system.url}/alerts`);
  await page.getByRole("searchbox").fill(name);
  await expect(page.locator("main [data-list-item]")).toHaveCount(2);
  await expect(page.locator("main [data-list-item]").last()).toContainText("Pending");
  await expect(card(page, `${name}-service`)).toContainText("900 ms");
  await page.getByRole("combobox", { name: "State" }).selectOption({ label: "Pending" });
  await expect(page.locator("main [data-list-item]")).toHaveCount(1);
  await expect(page).toHaveURL(/state=pending/);
  await expect(page).toHaveURL(new RegExp(`search=${name}`));
  await page.reload();
  await expect(page.locator("main [data-list-item]")).toHaveCount(1);
  await page.getByRole("combobox", { name: "Severity" }).selectOption("critical");
  await expect(page.getByText("No alert matches")).toBeVisible();
  await page.getByRole("button", { name: "Clear search and filters" }).click();
  await expect(card(page, `${name}-queue`)).toBeVisible();
  await system.service(`${name}-service`, 0.1);
  await system.queue(`${name}-queue`, 1);
  await expect(page.getByText("Nothing is firing")).toBeVisible();
});

test("nothing moves under a pointer: what comes stands below, and in its place once nobody looks", async ({ page }) => {
  const name = unique("hold");
  await system.queue(`${name}-a`, 500);
  await system.queue(`${name}-b`, 500);
  await page.goto(`${system.url}/alerts?search=${name}`);
  const cards = page.locator("main [data-list-item]");
  await expect(cards).toHaveCount(2);
  const ids = () => cards.evaluateAll((all) => all.map((one) => (one as HTMLElement).dataset.listItem));
  const before = await ids();
  await cards.first().hover();
  await expect(page.getByRole("heading", { name: /^Firing/ })).toContainText("order held while you look");
  const box = await cards.first().boundingBox();
  await system.queue(`${name}-c`, 500);
  await expect(cards).toHaveCount(3);
  await expect(cards.last()).toContainText(`${name}-c`);
  expect((await ids()).slice(0, 2)).toEqual(before);
  expect(await cards.first().boundingBox()).toEqual(box);
  const below = await cards.nth(1).boundingBox();
  const ended = (await cards.first().textContent())?.includes(`${name}-a`) ? "a" : "b";
  await system.queue(`${name}-${ended}`, 1);
  await expect(cards.first()).toContainText("no longer in this list");
  await expect(cards.first().getByRole("button", { name: /^Acknowledge/ })).toBeHidden();
  expect(await cards.nth(1).boundingBox()).toEqual(below);
  await page.mouse.move(0, 0);
  await expect(cards).toHaveCount(2);
  await expect(cards.first()).toContainText(`${name}-c`);
  await expect(page.getByRole("heading", { name: /^Firing/ })).not.toContainText("order held");

  await cards.last().locator("[data-list-link]").focus();
  await expect(page.getByRole("heading", { name: /^Firing/ })).toContainText("order held while you look");
  await page.getByRole("searchbox").focus();
  for (const last of "abc") await system.queue(`${name}-${last}`, 1);
  await expect(cards).toHaveCount(0);
});

test("the keyboard walks, acknowledges, silences and opens", async ({ page }) => {
  const { found, recover } = await fire(page, "keys");
  await page.keyboard.press("j");
  await expect(found.locator("[data-list-link]")).toBeFocused();
  await page.keyboard.press("s");
  await expect(page.getByRole("dialog", { name: /^Silence/ })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await page.keyboard.press("a");
  await expect(page.getByRole("textbox", { name: "Comment" })).toBeFocused();
  await page.keyboard.type("mine");
  await page.keyboard.press("Enter");
  await expect(found).toContainText(/Acknowledged by local .+: mine/);
  // While a dialog is there, also one that fades, keys are its own.
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await page.keyboard.press("/");
  await expect(page.getByRole("searchbox")).toBeFocused();
  await found.locator("[data-list-link]").focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1, name: /holds 500 messages/ })).toBeVisible();
  await page.goBack();
  await recover();
});

test("the page of an alert shows its value, what happened and how it went before", async ({ page }) => {
  const { found, queue, recover } = await fire(page, "page");
  await recover();
  await system.queue(queue, 300);
  await expect(found).toContainText("300");
  await found.getByRole("link", { name: "QueueTooLong" }).click();
  await expect(page.locator("main .lw-line").first()).toBeAttached();
  await expect(page.locator("main .lw-limit-label")).toContainText("Threshold 100");
  const part = (name: string) => page.locator("section").filter({ has: page.getByRole("heading", { name }) });
  await expect(part("What happened")).toContainText("Firing");
  await expect(part("Earlier times").getByRole("listitem")).toHaveCount(1);
  await expect(part("Earlier times")).toContainText(/lasted .+ · recovered/);
  await expect(part("Rule")).toContainText("test_queue_length > 100");
  await page.getByRole("link", { name: "See the moment" }).click();
  await expect(page).toHaveURL(/\/\?.*from=/);
  await system.queue(queue, 1);
});

test("the history opens at a span that holds alerts, and leads to each", async ({ page }) => {
  const { queue, recover } = await fire(page, "history");
  await recover();
  await page.goto(`${system.url}/alerts/history?search=${queue}`);
  // The shortest span that holds alerts; these are of just now.
  await expect(page.getByRole("button", { name: /Choose a time range/ })).toContainText("Last 1 hour");
  await expect(page.getByRole("row").filter({ hasText: queue })).toContainText("recovered");
  await page.getByRole("row").filter({ hasText: queue }).getByRole("link", { name: "QueueTooLong" }).click();
  await expect(page.getByText("Resolved").first()).toBeVisible();
});

test("the history stays readable, in both schemes, while another question is asked", async ({ page }) => {
  const { queue, recover } = await fire(page, "pale");
  await recover();
  await page.clock.install();
  await page.goto(`${system.url}/alerts/history`);
  const row = page.getByRole("row").filter({ hasText: queue });
  await expect(row).toContainText("recovered");
  let answer = () => {};
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route("**/api/alerts/history?*", async (route) => {
    await held;
    await route.continue();
  });
  const busy = page.locator("main [aria-busy=true]");
  // That time goes on is no other question.
  const asked = page.waitForRequest(/alerts\/history/);
  await page.clock.fastForward(11_000);
  await asked;
  await expect(busy).toHaveCount(0);
  await page.getByRole("searchbox").fill(queue);
  await expect(busy).toBeVisible();
  await expect(row).toBeVisible();
  await expectAccessibleInBoth(page);
  answer();
  await expect(busy).toHaveCount(0);
  await expect(row).toBeVisible();
});

test("the rules say how they do, and a broken file where it is broken while its old rules hold", async ({ page }) => {
  await page.goto(`${system.url}/alerts/rules`);
  const group = page.getByRole("region", { name: "queues" });
  await expect(group.getByRole("listitem")).toHaveCount(3);
  await expect(group).toContainText(/ago, took/);
  await page.getByRole("searchbox").fill("slowanswers");
  await expect(group.getByRole("listitem")).toHaveCount(1);
  await group.getByRole("button", { name: /SlowAnswers/ }).click();
  await expect(group).toContainText("test_answer_seconds > 0.5");
  await expect(group).toContainText("fires after 1 h");
  system.writeRules(BROKEN_RULES);
  await page.getByRole("button", { name: "Read files again" }).click();
  await expect(page.getByRole("alert").filter({ hasText: /^Line \d+:/ })).toBeVisible();
  await page.getByRole("searchbox").fill("");
  await expect(group.getByRole("listitem")).toHaveCount(3);
  system.writeRules(RULES);
  await page.getByRole("button", { name: "Read files again" }).click();
  await expect(page.getByRole("alert").filter({ hasText: /^Line \d+:/ })).toHaveCount(0);
});

test("data that vanish are no recovery, and somebody can close what was taken away", async ({ page }) => {
  const { found, queue } = await fire(page, "gone");
  await system.vanish(queue);
  await expect(found).toContainText(/No data since .+; last value shown/);
  await found.getByRole("button", { name: /^Dismiss/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Dismiss" }).click();
  await expect(found).toHaveCount(0);
});

test("no page of alerts has a violation that axe finds, in either scheme", async ({ page }) => {
  const { found, queue, recover } = await fire(page, "axe");
  await expectAccessibleInBoth(page);
  await found.getByRole("button", { name: /^Silence/ }).click();
  await expect(page.getByText(/Alerts of now that match/)).toBeVisible();
  await expectAccessibleInBoth(page, "[role=dialog]");
  await page.keyboard.press("Escape");
  await found.getByRole("link", { name: "QueueTooLong" }).click();
  await expect(page.locator("main .lw-line").first()).toBeAttached();
  await expectAccessibleInBoth(page);
  for (const path of ["history", "rules"]) {
    await page.goto(`${system.url}/alerts/${path}`);
    await expect(page.getByText("QueueTooLong").first()).toBeVisible();
    await expectAccessibleInBoth(page);
  }
  await page.goto(`${system.url}/alerts?search=${queue}`);
  await recover();
});

test.describe("on a phone in Japanese", () => {
  test.use({ locale: "ja-JP", viewport: { width: 390, height: 844 }, hasTouch: true, colorScheme: "dark" });

  test("an alert is read and acknowledged with a thumb, and nothing lies beyond the edge", async ({ page }) => {
    const queue = unique("phone");
    await system.queue(queue, 500);
    await page.goto(`${system.url}/alerts?search=${queue}`);
    const found = card(page, queue);
    await expect(found).toContainText("発報中");
    await expect(page.getByRole("link", { name: /アラート.*発報中 1件/ })).toBeVisible();
    const button = found.getByRole("button", { name: /^確認/ });
    expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(44);
    await button.tap();
    await expectAccessible(page, "[role=dialog]");
    await page.getByRole("dialog").getByRole("button", { name: "確認", exact: true }).tap();
    await expect(found).toContainText(/localが.+前に確認/);
    for (const path of ["", "/history", "/rules"]) {
      await page.goto(`${system.url}/alerts${path}`);
      await expect(page.getByText("QueueTooLong").first()).toBeVisible();
      await expectWithin(page, 390, path);
      await expectAccessible(page);
    }
    await system.queue(queue, 1);
  });
});
