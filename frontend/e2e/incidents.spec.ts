import type { Locator, Page } from "@playwright/test";
import { type AlertSystem, startAlertSystem } from "./alert-system";
import { expectRoom } from "./fit";
import { expect, expectAccessible, expectAccessibleInBoth, expectWithin, OWN_SERVER, test } from "./live-test";

test.use(OWN_SERVER);

const RULES = `groups:
  - name: queues
    interval: 1s
    rules:
      - alert: QueueTooLong
        expr: test_queue_length > 100
        labels: { severity: critical }
        annotations:
          summary: "{{ $labels.queue }} holds {{ $value }} messages"
          runbook_url: "{{ $externalURL }}/runbooks/pool-waits"
          loadwatch_unit: count
      - alert: SlowAnswers
        expr: test_answer_seconds > 0.5
        keep_firing_for: 1h
        labels: { severity: warning }
        annotations: { summary: "{{ $labels.service }} answers slowly", loadwatch_unit: seconds }
`;

let system: AlertSystem;
test.beforeAll(async () => {
  system = await startAlertSystem();
  system.writeRules(RULES);
});
test.afterAll(async () => {
  await system.stop();
});

async function post(path: string, body: object): Promise<{ readonly id: string }> {
  const answer = await fetch(`${system.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

/** The id of the alert that fires for a label's value. */
async function idOf(value: string): Promise<string> {
  let id = "";
  await expect(async () => {
    const { alerts } = await (await fetch(`${system.url}/api/alerts?search=${value}&state=firing`)).json();
    expect(alerts).toHaveLength(1);
    id = alerts[0].id;
  }).toPass();
  return id;
}

async function expectInFirstScreen(page: Page, ...parts: readonly Locator[]): Promise<void> {
  const bar = await page.getByRole("button", { name: "Acknowledge" }).boundingBox();
  if (bar === null) throw new Error("there is no bar");
  expect(bar.y + bar.height).toBeLessThanOrEqual(844);
  for (const part of parts) {
    const box = await part.boundingBox();
    if (box === null) throw new Error(`${part} is not there`);
    expect(box.y).toBeGreaterThanOrEqual(0);
    expect(box.y + box.height, `${part} ends above the bar`).toBeLessThanOrEqual(bar.y);
  }
}

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true });

  test("the link of any of its alerts opens the incident, all that matters in the first screen", async ({ page }) => {
    const run = await post("/api/runs", { name: "checkout ramp" });
    await system.queue("orders", 500);
    const cause = await idOf("orders");
    await system.service("checkout", 0.9);
    const other = await idOf("checkout");
    await page.goto(`${system.url}/alerts/${cause}`);
    const title = page.getByRole("heading", { level: 1, name: "orders holds 500 messages" });
    await expect(page.locator("main .lw-line").first()).toBeAttached();
    const step = page.getByRole("region", { name: "First steps" }).getByRole("listitem").first();
    const since = page.getByText(/for \d+ .*, since \d\d:\d\d:\d\d/).first();
    await expectInFirstScreen(page, title, since, page.locator("main figure, main .lw-line").first(), step);
    await expect(page.getByText("During load test checkout ramp")).toBeVisible();
    await expect(page.getByRole("link", { name: "Open run" })).toHaveAttribute("href", `/runs/${run.id}`);
    await expectWithin(page, 390);
    await expectAccessibleInBoth(page);

    await page.goto(`${system.url}/alerts/${other}`);
    await expect(title).toBeVisible();
    await expect(page.getByRole("heading", { level: 2, name: "SlowAnswers" })).toBeVisible();
    await expect(page.getByRole("link", { name: "SlowAnswers" })).toHaveAttribute("aria-current", "page");
    await page.getByRole("button", { name: "Acknowledge" }).tap();
    const dialog = page.getByRole("dialog", { name: /^Acknowledge/ });
    await expect(dialog.getByText(/all of its alerts that fire \(2 so far\)/)).toBeVisible();
    await dialog.getByRole("button", { name: "Acknowledge" }).tap();
    await expect(page.getByText(/Acknowledged by local/).first()).toBeVisible();
    await expect(page.getByRole("button", { name: "Take back" })).toBeVisible();
    // Another instance that joins is not acknowledged with it.
    await system.service("payment", 0.9);
    await page.goto(`${system.url}/alerts/${await idOf("payment")}`);
    await expect(page.getByRole("button", { name: "Acknowledge" })).toBeVisible();

    // The list and the history have one line for it, which opens.
    await page.goto(`${system.url}/alerts`);
    await expect(page.locator("main [data-list-item]")).toHaveCount(1);
    await page.getByText("Other alerts of this incident (2)").tap();
    await expect(page.getByRole("link", { name: "SlowAnswers" })).toHaveCount(2);
    await expectWithin(page, 390, "list");
    await expectAccessible(page);
    await page.goto(`${system.url}/alerts/history`);
    await expect(page.getByText("3 alerts, incidents: 1")).toBeVisible();
    await page.getByRole("button", { name: "Other alerts of this incident (2)" }).tap();
    await expect(page.getByRole("link", { name: "SlowAnswers", exact: true })).toHaveCount(2);
    await expectWithin(page, 390, "history");
    await expectAccessible(page);

    // keep_firing_for holds an hour, and no longer than the run.
    await system.service("checkout", 0.1);
    await system.service("payment", 0.1);
    await system.queue("orders", 1);
    await post(`/api/runs/${run.id}/finish`, { ended_ms: Date.now() });
    await page.goto(`${system.url}/alerts`);
    await expect(page.getByText("Nothing is firing")).toBeVisible();
  });
});

test.describe("on a phone in Japanese", () => {
  test.use({ viewport: { width: 390, height: 844 }, locale: "ja-JP", hasTouch: true });

  test("cause, since, chart and first step stand in the first screen", async ({ page }) => {
    await system.queue("chumon", 500);
    await page.goto(`${system.url}/alerts/${await idOf("chumon")}`);
    const title = page.getByRole("heading", { level: 1, name: "chumon holds 500 messages" });
    await expect(page.locator("main .lw-line").first()).toBeAttached();
    const step = page.getByRole("region", { name: "最初の手順" }).getByRole("listitem").first();
    const bar = await page.getByRole("button", { name: "確認", exact: true }).boundingBox();
    if (bar === null) throw new Error("there is no bar");
    expect(bar.y + bar.height).toBeLessThanOrEqual(844);
    for (const part of [title, page.locator("main figure, main .lw-line").first(), step]) {
      const box = await part.boundingBox();
      if (box === null) throw new Error(`${part} is not there`);
      expect(box.y + box.height, `${part} ends above the bar`).toBeLessThanOrEqual(bar.y);
    }
    await expectWithin(page, 390);
    await system.queue("chumon", 1);
  });
});

test("at 200 % zoom an incident is whole, and Ctrl+K finds its alert by name", async ({ page }) => {
  await system.queue("zoom", 300);
  const id = await idOf("zoom");
  for (const [width, height] of [
    [720, 450],
    [640, 360],
  ] as const) {
    await page.setViewportSize({ width, height });
    await page.goto(`${system.url}/alerts/${id}`);
    await expect(page.getByRole("heading", { level: 1, name: "zoom holds 300 messages" })).toBeVisible();
    await expectRoom(page, width, height, "incident");
  }
  await page.setViewportSize({ width: 1280, height: 860 });
  await page.goto(`${system.url}/targets`);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  const jump = page.getByPlaceholder("Find a panel, page, run, alert, target or command");
  await page.keyboard.press("Control+k");
  await jump.fill("QueueTooLong");
  await page.getByRole("dialog").getByText("QueueTooLong", { exact: true }).first().click();
  await expect(page).toHaveURL(new RegExp(`/alerts/${id}`));
  await system.queue("zoom", 1);
});

test("one key acknowledges the incident from anywhere on its page, another one silences", async ({ page }) => {
  await system.queue("keys", 300);
  await page.goto(`${system.url}/alerts/${await idOf("keys")}`);
  await expect(page.getByRole("heading", { level: 1, name: "keys holds 300 messages" })).toBeVisible();
  await page.keyboard.press("s");
  await expect(page.getByText(/Silenced until (\d+ \w+ )?\d\d:\d\d:\d\d: QueueTooLong · keys/)).toBeVisible();
  await page.keyboard.press("a");
  await expect(page.getByRole("textbox", { name: "Comment" })).toBeFocused();
  await page.keyboard.type("mine");
  await page.keyboard.press("Enter");
  await expect(page.getByText(/Acknowledged by local .+: mine/)).toBeVisible();
  await page.keyboard.press("a");
  await expect(page.getByRole("button", { name: "Acknowledge" })).toBeVisible();
  await system.queue("keys", 1);
});
