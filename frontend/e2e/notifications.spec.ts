import type { Locator, Page } from "@playwright/test";
import { expect, expectAccessible, expectAccessibleInBoth, expectWithin, OWN_SERVER, test } from "./live-test";
import { configuration, type NotifySystem, startNotifySystem } from "./notify-system";

test.use(OWN_SERVER);

let system: NotifySystem;
test.beforeAll(async () => {
  system = await startNotifySystem();
});
test.afterAll(async () => {
  await system.stop();
});

const at = (path: string) => `${system.url}/alerts/${path}`;
const unique = (name: string) => `${name} ${Math.random().toString(36).slice(2, 7)}`;
const receiver = (page: Page, name: string): Locator => page.locator(`[data-receiver="${name}"]`);
const silence = (page: Page, comment: string): Locator => page.locator("[data-silence]").filter({ hasText: comment });

/** Opens the form with conditions out of the address, as links do. */
async function openForm(page: Page, matcher: string): Promise<Locator> {
  await page.goto(at(`silences?${new URLSearchParams({ matcher })}`));
  const form = page.getByRole("dialog", { name: "New silence" });
  await expect(form).toBeVisible();
  return form;
}

test("the tree lights the way that labels take, and says who is told, in which group", async ({ page }) => {
  await page.goto(at("routes"));
  const tree = page.getByRole("list", { name: "Route tree" });
  await expect(tree.locator("[data-route]")).toHaveCount(5);
  await expect(tree.locator('[data-route="0"]')).toContainText("Grouped by alertname, job. First message at once");
  await expect(tree.locator('[data-route="0.0"]')).toContainText("page only");
  await expect(tree.locator('[data-route="0.3"]')).toContainText("Muted now");

  const labels = page.getByRole("textbox", { name: "Labels" });
  await labels.fill('{alertname="PoolFull", job="app"}\nteam=web');
  const answer = page.getByRole("list", { name: "Receivers" }).getByRole("listitem");
  await expect(answer.first()).toContainText("web-team");
  await expect(answer.first()).toContainText('In the group alertname="PoolFull", job="app"');
  await expect(tree.locator('[data-route="0.1"]')).toContainText("takes it");
  await expect(tree.locator('[data-route="0"]')).toContainText("passes through");
  await page.reload();
  await expect(labels).toHaveValue(/team=web/);
  await expect(tree.locator('[data-route="0.1"]')).toContainText("takes it");

  await labels.fill("team=web\nrun=4711");
  await expect(answer.first()).toContainText("page-only");
  await expect(answer.first()).toContainText("nobody is told");
  await labels.fill("severity=info\njob=app");
  await expect(page.getByText("Inhibited by the alert")).toBeVisible();
  await labels.fill("team=night");
  await expect(page.getByText("Muted now by always")).toBeVisible();
  await labels.fill("nonsense");
  await expect(page.getByText("No label: nonsense.")).toBeVisible();
  await page.getByLabel("An alert of now").selectOption({ label: "The pool is full" });
  await expect(tree.locator('[data-route="0"]')).toContainText("takes it");
  await expect(page.getByRole("region", { name: "Who hears of runs" })).toContainText('verdict="failed"');
});

test("a broken file is named with its line, the old one stays, and a mended one is taken up", async ({ page }) => {
  await page.goto(at("routes"));
  system.writeConfiguration(configuration(system.hook.port, "receiver: [1\n"));
  await page.getByRole("button", { name: "Read the file again" }).click();
  const alert = page.getByRole("alert").filter({ hasText: "The configuration file is broken" });
  await expect(alert).toContainText(/notifications\.yml:\d+/);
  await expect(alert).toContainText("stays in force");
  await expect(page.locator('[data-route="0.3"]')).toBeVisible();
  system.writeConfiguration(configuration(system.hook.port));
  await expect(alert).toBeHidden();
});

test("a silence out of a link shows what it matches, holds, is found by labels, and ends", async ({ page }) => {
  const comment = unique("the disk is being changed");
  const form = await openForm(page, 'team="database"');
  await expect(form.getByText("Matching alerts now: 1 (PoolFull)")).toBeVisible();
  await form.getByRole("button", { name: "Silence", exact: true }).click();
  await expect(form.getByText("Say why: others will wonder.")).toBeVisible();
  await form.getByRole("textbox", { name: "Comment" }).fill(comment);
  await form.getByRole("button", { name: "30 min" }).click();
  await form.getByRole("button", { name: "Silence", exact: true }).click();
  await expect(form).toBeHidden();
  const card = silence(page, comment);
  await expect(card).toContainText("Active");
  await expect(card).toContainText('team="database"');
  await expect(card).toContainText(/ends in (30|29) min/);
  await expect(card.getByRole("link", { name: "matching alerts now: 1" })).toBeVisible();

  await page.goto(at(`routes?label=${encodeURIComponent("team=database")}`));
  await expect(page.getByText("Silenced by")).toContainText(comment);
  await page.getByRole("link", { name: comment }).click();
  await card.getByRole("button", { name: /^End/ }).click();
  const dialog = page.getByRole("dialog", { name: "End this silence now?" });
  await expect(dialog).toContainText("Matching now: 1");
  await dialog.getByRole("button", { name: "End it now" }).click();
  await expect(card).toHaveCount(0);
  await page.getByRole("button", { name: /^Over/ }).click();
  await expect(page).toHaveURL(/state=expired/);
  await expect(card).toContainText("Over");
});

test("a recurring silence is written, changed and copied; one over everything is warned of", async ({ page }) => {
  const comment = unique("nightly backup");
  const form = await openForm(page, "job=backup");
  await form.getByRole("switch", { name: "Only at some hours" }).check();
  await form.getByRole("button", { name: "Sun", exact: true }).click();
  await form.getByRole("textbox", { name: "From" }).fill("7");
  await form.getByRole("combobox", { name: "Time zone" }).fill("Asia/Tokyo");
  await form.getByRole("textbox", { name: "Comment" }).fill(comment);
  await form.getByRole("button", { name: "7 days" }).click();
  await form.getByRole("button", { name: "Silence", exact: true }).click();
  await expect(form.getByText("Write both as HH:MM.")).toBeVisible();
  await form.getByRole("textbox", { name: "From" }).fill("23:00");
  await form.getByRole("button", { name: "Silence", exact: true }).click();
  await expect(form).toBeHidden();
  const card = silence(page, comment);
  await expect(card).toContainText("Mon, Tue, Wed, Thu, Fri, Sat, 23:00 to 06:00 on the next day, Asia/Tokyo");

  await card.getByRole("button", { name: /^Edit/ }).click();
  const change = page.getByRole("dialog", { name: "Change the silence" });
  await expect(change.getByRole("textbox", { name: "From" })).toHaveValue("23:00");
  await change.getByRole("textbox", { name: "Comment" }).fill(`${comment}, later`);
  await change.getByRole("textbox", { name: "From" }).fill("23:30");
  await change.getByRole("button", { name: "Save" }).click();
  await expect(silence(page, `${comment}, later`)).toContainText("23:30 to 06:00");
  await silence(page, comment).getByRole("button", { name: /^Copy/ }).click();
  await expect(
    page.getByRole("dialog", { name: "New silence" }).getByRole("combobox", { name: "Value of matcher 1" }),
  ).toHaveValue("backup");
  await page.keyboard.press("Escape");

  const all = await openForm(page, 'job=~".*"');
  await expect(all.getByText("This matches nearly everything")).toBeVisible();
});

test("receivers show how they do, without secrets; a test is answered; one that refuses is tried again", async ({
  page,
}) => {
  await page.goto(at("receivers"));
  await expect(receiver(page, "on-call")).toContainText("signed");
  await expect(receiver(page, "on-call")).not.toContainText("not-to-be-shown");
  await expect(receiver(page, "page-only")).toContainText("nobody is told");
  await receiver(page, "on-call")
    .getByRole("button", { name: /^Send a test/ })
    .click();
  const results = receiver(page, "on-call").getByRole("list", { name: "Results of the test" });
  await expect(results).toContainText("Taken");
  await expect(results).toContainText("status 200");
  await expect(receiver(page, "on-call")).toContainText(/last delivered .* ago/);
  expect(system.hook.received.some((one) => one.path === "/on-call" && one.id.startsWith("msg_"))).toBe(true);

  const gone = receiver(page, "gone-team");
  await expect(gone).toContainText("Refuses");
  await expect(gone).toContainText("answered 410 Gone");
  await expect(gone).toContainText("failing since");
  await expect(gone).toContainText("next try");
  // Every page says so.
  await expect(page.getByRole("alert")).toContainText("ways to tell somebody do not take messages");
  await expect(page.getByRole("alert")).toContainText("gone-team (answered 410 Gone");
  await page.goto(`${system.url}/alerts`);
  await expect(
    page.getByText(/Not delivered to gone-team since .*answered 410 Gone.*next try at/).first(),
  ).toBeVisible();
  // In Japanese, too, what a sender said.
  await page.evaluate(() => localStorage.setItem("loadwatch.language", "ja"));
  await page.goto(at("receivers"));
  await expect(page.getByRole("alert")).toContainText("gone-team (410 Gone を返しました: 受信先はもうありません)");
  await expect(gone).toContainText("410 Gone を返しました");
  await page.evaluate(() => localStorage.setItem("loadwatch.language", "en"));
  await page.goto(at("receivers"));
  // The receiver is back as soon as somebody asks, so that no try of the server's own comes before.
  await page.route("**/retry", async (route) => {
    system.hook.answer("/gone", 200);
    await route.continue();
  });
  await gone.getByRole("button", { name: /^Try now/ }).click();
  await expect(gone).toContainText("Works");
  await expect(gone).toContainText('team="gone"');
});

test("what is refused is stopped and sent again with the same id, and each attempt is shown", async ({ page }) => {
  await page.goto(at("deliveries?receiver=web-team"));
  const row = page.locator("tr[data-delivery]").filter({ hasText: "WebSlow" });
  await expect(row).toContainText("Waiting");
  await row.getByRole("button", { name: /WebSlow/ }).click();
  await expect(page).toHaveURL(/delivery=msg_/);
  const drawer = page.getByRole("dialog", { name: "Delivery" });
  await expect(drawer.getByText("Refused, tried ever more seldom").first()).toBeVisible();
  await expect(drawer.getByText(/status 404 · 127\.0\.0\.1/).first()).toBeVisible();
  await drawer.getByText("Response").first().click();
  await expect(drawer.getByText("no use for it: 404").first()).toBeVisible();
  await drawer.getByRole("button", { name: "Stop trying" }).click();
  await expect(drawer.getByText("Withdrawn")).toBeVisible();

  system.hook.answer("/web", 200);
  await drawer.getByRole("button", { name: "Send again" }).click();
  await expect(drawer.getByText("Delivered").first()).toBeVisible();
  await expect(drawer.getByRole("button", { name: "Send again" })).toBeHidden();
  const ids = system.hook.received.filter((one) => one.path === "/web").map((one) => one.id);
  expect(ids.length).toBeGreaterThanOrEqual(2);
  expect(new Set(ids).size).toBe(1);
  await drawer.getByText("What was sent").click();
  await expect(drawer.getByText('"version": "4"')).toBeVisible();
  await drawer.getByRole("link", { name: "WebSlow" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText(/WebSlow|The web is slow/);
});

test("the log is filtered by state, receiver and words, in the address", async ({ page }) => {
  await page.goto(at("deliveries"));
  const rows = page.locator("tr[data-delivery]");
  await expect(rows.first()).toBeVisible();
  await page.getByRole("searchbox", { name: "Words in the subject" }).fill("PoolFull");
  await expect(page).toHaveURL(/q=PoolFull/);
  await expect(rows).toHaveCount(1);
  await page.getByRole("button", { name: /^Given up/ }).click();
  await expect(page.getByText("No delivery matches")).toBeVisible();
  await page.reload();
  await expect(page.getByRole("button", { name: /^Given up/ })).toHaveAttribute("aria-pressed", "true");
  await page.getByRole("button", { name: "Show all" }).click();
  await page.getByLabel("Receiver", { exact: true }).selectOption("on-call");
  await expect(page).toHaveURL(/receiver=on-call/);
  await expect(rows.filter({ hasText: "web-team" })).toHaveCount(0);
});

test("axe finds nothing on the pages of notifications, in either scheme", async ({ page }) => {
  await page.goto(at(`routes?label=${encodeURIComponent("team=web")}`));
  await expect(page.getByText("takes it")).toBeVisible();
  await expectAccessibleInBoth(page);
  const form = await openForm(page, 'team="web"');
  await form.getByRole("switch", { name: "Only at some hours" }).check();
  await form.getByRole("button", { name: "other" }).click();
  await expect(form.getByText(/Matching alerts now/)).toBeVisible();
  await expectAccessibleInBoth(page, "[role=dialog]");
  await page.keyboard.press("Escape");
  await expectAccessibleInBoth(page);
  await page.goto(at("receivers"));
  await receiver(page, "on-call")
    .getByRole("button", { name: /^Send a test/ })
    .click();
  await expect(page.getByText("Taken", { exact: true })).toBeVisible();
  await expectAccessibleInBoth(page);
  await page.goto(at("deliveries"));
  await page.locator("tr[data-delivery] button").first().click();
  await expect(page.getByText(/^Attempts \(/)).toBeVisible();
  await page.getByText("What was sent").click();
  await expectAccessibleInBoth(page);
});

test("a phone shows all of it in Japanese, and nothing beyond its edge", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.addInitScript(() => localStorage.setItem("loadwatch.language", "ja"));
  const pages = [
    ["routes", "ルート"],
    ["silences", "サイレンス"],
    ["receivers", "受信先"],
    ["deliveries", "配送ログ"],
  ] as const;
  for (const [path, title] of pages) {
    await page.goto(at(path));
    await expect(page.getByRole("heading", { level: 1, name: title })).toBeVisible();
    await expect(page.getByLabel("読み込み中")).toHaveCount(0);
    await expectWithin(page, 390, path);
    await expectAccessible(page);
  }
  await page.locator("li[data-delivery] button").first().click();
  await expect(page.getByText(/^試行（|^試行\(/)).toBeVisible();
  await expectWithin(page, 390);
  await page.goto(at("silences"));
  await page.getByRole("button", { name: "サイレンスを作成" }).click();
  const small = () =>
    page
      .getByRole("dialog")
      .locator("button, input:not([type=checkbox]), select")
      .evaluateAll((all) =>
        all
          .map((one) => ({ height: one.getBoundingClientRect().height, html: one.outerHTML.slice(0, 120) }))
          .filter(({ height }) => height > 0 && height < 44),
      );
  await expect(page.getByRole("dialog")).toBeVisible();
  await expect.poll(small).toEqual([]);
});
