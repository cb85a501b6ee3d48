/** One outage as the on-call person meets it: the default rules, the live diagnosis, a receiver, the incident's page. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, expectAccessibleInBoth, expectWithin, OWN_SERVER, test } from "./live-test";
import { type Hook, startHook } from "./notify-system";
import { type Sample, writeSamples } from "./remote-write";
import { type System, start, untilReady } from "./start-system";

test.use(OWN_SERVER);

const DB = { job: "mysql", instance: "orders-db" };
const SECOND = 1000;

let system: System;
let hook: Hook;
let begunMs = 0;
let timer: NodeJS.Timeout;

/** Of 120 connections `app` always holds 60; `night_job` comes and takes 53, and others are refused from then on. */
function samplesAt(timeMs: number): readonly Sample[] {
  const late = Math.max(0, Math.floor((timeMs - begunMs) / SECOND));
  const values: Readonly<Record<string, number>> = {
    mysql_global_variables_max_connections: 120,
    mysql_global_status_threads_connected: late > 0 ? 120 : 68,
    mysql_global_status_aborted_connects: 3 + 5 * late,
  };
  const users = { app: 60, night_job: late > 0 ? 53 : 1 };
  return [
    ...Object.entries(values).map(([name, value]) => ({ labels: { __name__: name, ...DB }, value, timeMs })),
    ...Object.entries(users).map(([mysql_user, value]) => ({
      labels: { __name__: "mysql_info_schema_processlist_processes_by_user", ...DB, mysql_user },
      value,
      timeMs,
    })),
  ];
}

test.beforeAll(async () => {
  hook = await startHook();
  hook.answer("/chat", 410);
  const prepare = (home: string) => {
    const at = (path: string) => `http://127.0.0.1:${hook.port}${path}`;
    const file = join(home, "notifications.yml");
    writeFileSync(
      file,
      `route: { receiver: pager, group_by: [alertname], group_wait: 0s, routes: [{ receiver: chat, continue: true }, { receiver: pager }] }
receivers:
  - { name: pager, webhook_configs: [{ url: "${at("/pager")}" }] }
  - { name: chat, webhook_configs: [{ url: "${at("/chat")}" }] }
`,
    );
    return { LOADWATCH_NOTIFICATIONS: file, LOADWATCH_NOTIFY_NETWORKS: "127.0.0.0/8" };
  };
  system = await start("server", prepare, untilReady);
  begunMs = Date.now() + 2 * SECOND;
  const before = Array.from({ length: 90 }, (_, place) => samplesAt(Date.now() - (90 - place) * SECOND));
  await writeSamples(system.url, before.flat());
  timer = setInterval(() => void writeSamples(system.url, samplesAt(Date.now())).catch(() => {}), SECOND);
});
test.afterAll(async () => {
  clearInterval(timer);
  await system.stop();
  await hook.stop();
});

test("the page of any of its alerts shows the one that paged, as it is now, whom it reached, and what grew", async ({
  page,
}) => {
  let ids: readonly string[] = [];
  await expect(async () => {
    const { alerts } = await (await fetch(`${system.url}/api/alerts?state=firing`)).json();
    const of = (name: string, severity: string) =>
      alerts.find((one: { name: string; severity: string }) => one.name === name && one.severity === severity);
    ids = [of("DatabaseConnectionsHigh", "critical").id, of("DatabaseConnectionsRefused", "critical").id];
    expect(of("DatabaseConnectionsRefused", "critical").finding).not.toBeNull();
  }).toPass();
  await page.goto(`${system.url}/alerts/${ids[0]}`);
  const head = page.locator("main header").first();
  await expect(head).toContainText("critical");
  await expect(head).toContainText("DatabaseConnectionsRefused");
  const title = page.getByRole("heading", { level: 1 });
  await expect(title).toContainText(/All 120 connections of orders-db were taken (at|before) \d\d:\d\d:\d\d /);
  await expect(title).not.toContainText("ago");
  await expect(head).toContainText("fires above");
  // The count is the one of now, and goes on.
  const refused = async () => Number(/refused ([\d,]+)/.exec(await title.innerText())?.[1]?.replace(",", ""));
  const first = await refused();
  await expect.poll(refused).toBeGreaterThan(first);
  await expect(head.getByText(/Notified: .*pager \(webhook\) \d\d:\d\d:\d\d/)).toBeVisible();
  await expect(head.getByText(/chat \(webhook\): not delivered since .*410/)).toBeVisible();
  const step = page.getByRole("region", { name: "First steps" }).getByRole("listitem").first();
  await expect(step).toContainText("night_job holds 53 of 120: stop or bound it.");
  await expect(page.getByText(/Other alerts of this incident/)).toBeVisible();
  const told = hook.received.find(({ path, document }) => path === "/pager" && document.status === "firing");
  expect(JSON.stringify(told?.document)).not.toMatch(/\d (ms|s|min) ago/);
  if (process.env.LOADWATCH_SHOTS !== undefined) {
    for (const [width, height] of [
      [1440, 900],
      [390, 844],
    ] as const)
      for (const scheme of ["light", "dark"] as const)
        for (const language of ["en", "ja"] as const) {
          await page.setViewportSize({ width, height });
          await page.emulateMedia({ colorScheme: scheme });
          await page.evaluate((one) => localStorage.setItem("loadwatch.language", one), language);
          await page.reload();
          await expect(page.locator("main .lw-line").first()).toBeAttached();
          await page.screenshot({ path: `${process.env.LOADWATCH_SHOTS}/${width}-${scheme}-${language}.png` });
        }
    await page.evaluate(() => localStorage.setItem("loadwatch.language", "en"));
    await page.reload();
  }
  await page.setViewportSize({ width: 390, height: 844 });
  // That a receiver takes nothing stands in the head; the banner of every page can be put away.
  await page.getByRole("alert").getByRole("button", { name: "Close" }).click();
  await expect(page.getByRole("alert")).toHaveCount(0);
  await expectWithin(page, 390);
  await expectAccessibleInBoth(page);

  // One tap, and nothing of the incident is loud; another instance would be.
  await page.getByRole("button", { name: "Silence 1 h" }).click();
  await expect(page.getByText(/Silenced until .*DatabaseConnectionsRefused · .*orders-db/).first()).toBeVisible();
  const { alerts } = await (await fetch(`${system.url}/api/alerts?state=firing`)).json();
  const mine = alerts.filter((one: { labels: { instance?: string } }) => one.labels.instance === "orders-db");
  expect(mine.length).toBeGreaterThan(1);
  for (const one of mine) expect(one.silenced_by, one.name).toHaveLength(1);
  const { silences } = await (await fetch(`${system.url}/api/silences`)).json();
  expect(silences).toHaveLength(1);
  expect(silences[0].matchers).toContainEqual(expect.objectContaining({ name: "instance", value: "orders-db" }));
  await expect(page.getByRole("button", { name: "Silence 1 h" })).toHaveCount(0);
});
