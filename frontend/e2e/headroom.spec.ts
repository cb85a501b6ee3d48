/** Limits while another one becomes the nearest: what comes first, and what holds still. */
import { expect, expectAccessibleInBoth, expectWithin, OWN_SERVER, test } from "./live-test";
import { writeSamples } from "./remote-write";
import { type System, start, untilReady } from "./start-system";

const POOLS = Array.from({ length: 10 }, (_, index) => `web-${index + 1}`);
const LIMIT = 100;

test.use(OWN_SERVER);

let system: System;
const full = new Set<string>();
let timer: ReturnType<typeof setInterval>;

test.beforeAll(async () => {
  system = await start("server", () => ({ LOADWATCH_DEFAULT_RULES: "false" }), untilReady);
  timer = setInterval(() => void send(), 1000);
});
test.afterAll(async () => {
  clearInterval(timer);
  await system.stop();
});

/** Ten pools of which the third is the worst, the files of a process, connections of a database. */
async function send(): Promise<void> {
  const timeMs = Date.now();
  const sample = (__name__: string, value: number, labels: Readonly<Record<string, string>>) => ({
    labels: { __name__, job: "shop", ...labels },
    timeMs,
    value,
  });
  const used = (name: string, usual: number) => (full.has(name) ? LIMIT : usual);
  const file = { instance: "web-1", name: "shop" };
  const samples = [
    ...POOLS.flatMap((instance) => {
      const labels = { instance, db_name: "orders" };
      return [
        sample("go_sql_in_use_connections", used(instance, instance === "web-3" ? 60 : 20), labels),
        sample("go_sql_max_open_connections", LIMIT, labels),
      ];
    }),
    sample("process_open_fds", used("fds", 30), file),
    sample("process_max_fds", LIMIT, file),
    sample("mysql_global_status_threads_connected", used("db", 50), { instance: "db" }),
    sample("mysql_global_variables_max_connections", LIMIT, { instance: "db" }),
  ];
  await writeSamples(system.url, samples);
}

test("the nearest limit comes first, and nothing moves under a pointer", async ({ page }) => {
  await page.goto(system.url);
  const region = page.getByRole("region", { name: "Headroom" });
  const first = region.locator("[data-limit]").first();
  const line = (resource: string) => region.locator(`[data-limit="${resource}"]`);
  await expect(first).toHaveAttribute("data-limit", "pool_connections");
  await expect(first).toContainText("most used of 10: web-3 orders");
  await expect(first).toContainText("40% left");
  await expect(region.locator("[data-limit]")).toHaveCount(3);

  full.add("fds");
  await expect(first).toHaveAttribute("data-limit", "process_fds");
  // Nobody suffers, so nothing ran out.
  await expect(first).toContainText("Full");

  await first.hover();
  await expect(region).toContainText("order held while you look");
  const before = await first.boundingBox();
  full.add("db");
  await expect(line("db_connections")).toContainText("0% left");
  await expect(first).toHaveAttribute("data-limit", "process_fds");
  expect(await first.boundingBox()).toEqual(before);
  await page.mouse.move(0, 0);
  await expect(first).toHaveAttribute("data-limit", "db_connections");
  await expect(region).not.toContainText("order held while you look");

  full.add("web-1").add("web-3");
  await expect(line("pool_connections")).toContainText("full (2 of 10)");
  await line("pool_connections").getByRole("button").focus();
  await page.keyboard.press("Enter");
  const instances = region.getByRole("list", { name: "Instances of Connection pool" }).getByRole("listitem");
  await expect(instances).toHaveCount(POOLS.length);
  await expect(instances.nth(0)).toContainText("web-1 orders");
  await expect(instances.nth(9)).toContainText("web-10 orders");

  await expectAccessibleInBoth(page, "section[aria-label='Headroom']");
  await page.setViewportSize({ width: 390, height: 844 });
  await expectWithin(page, 390);
});
