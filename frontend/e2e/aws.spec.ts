/** AWS on the live page, with series as the cloudwatch collector sends them: once a minute, and minutes late. */
import type { Locator } from "@playwright/test";
import { expect, expectAccessible, expectAccessibleInBoth, OWN_SERVER, test } from "./live-test";
import { type Sample, writeSamples } from "./remote-write";
import { type System, start, untilReady } from "./start-system";

const MINUTE = 60_000;
const ACCOUNT = { region: "ap-northeast-1", account_id: "123456789012", job: "aws", instance: "cloudwatch" };
const READERS = ["shop-r1", "shop-r2", "shop-r3", "shop-r4", "shop-r5"];

const arn = (database: string) => `arn:aws:rds:ap-northeast-1:123456789012:db:${database}`;
const rds = (metric: string, database: string) => ({
  ...{ ...ACCOUNT, __name__: `aws_rds_${metric}`, name: arn(database) },
  dimension_DBInstanceIdentifier: database,
});
const balancer = (metric: string) => ({
  ...{ ...ACCOUNT, __name__: `aws_applicationelb_${metric}`, dimension_LoadBalancer: "app/shop/50dc6c495c0c9188" },
  name: "arn:aws:elasticloadbalancing:ap-northeast-1:123456789012:loadbalancer/app/shop/50dc6c495c0c9188",
});

function series(
  labels: Record<string, string>,
  newestMs: number,
  value: (index: number) => number,
  stepMs = MINUTE,
  count = 20,
): Sample[] {
  return Array.from({ length: count }, (_, index) => ({
    labels,
    timeMs: newestMs - index * stepMs,
    value: value(count - 1 - index),
  }));
}

/** What is there at `newestMs`; reader 5 works hardest, and its last value has not come yet. */
function aurora(newestMs: number): Sample[] {
  const role = (database: string, is: string) => ({
    ...{ ...ACCOUNT, __name__: "aws_rds_info", name: arn(database), identifier: database, cluster: "shop", role: is },
  });
  return [
    ...series(role("shop-w", "writer"), newestMs + 2 * MINUTE, () => 1),
    ...READERS.flatMap((reader) => series(role(reader, "reader"), newestMs + 2 * MINUTE, () => 1)),
    ...series(rds("cpuutilization_average", "shop-w"), newestMs, (index) => 40 + index),
    ...READERS.flatMap((reader, place) =>
      series(
        rds("cpuutilization_average", reader),
        reader === "shop-r5" ? newestMs - MINUTE : newestMs,
        (index) => (reader === "shop-r5" ? 85 : 20 + place) + (index % 2),
      ),
    ),
    ...series(rds("database_connections_maximum", "shop-w"), newestMs, (index) => 100 + 2 * index),
    ...series(rds("max_connections", "shop-w"), newestMs + 2 * MINUTE, () => 200),
    ...series(rds("read_iops_average", "shop-w"), newestMs, () => 400),
    ...series(rds("write_iops_average", "shop-w"), newestMs, () => 200),
    ...series(rds("provisioned_iops", "shop-w"), newestMs + 2 * MINUTE, () => 3000, MINUTE, 30),
    ...series(balancer("request_count_sum"), newestMs, () => 6000),
    // Written only when there are some: the last were seven minutes ago, and zeros come once they cannot be late.
    ...series(balancer("httpcode_target_5_xx_count_sum"), newestMs - 7 * MINUTE, (index) => (index === 19 ? 12 : 0)),
  ];
}

const TEN = 10_000;

/** Performance Insights and Enhanced Monitoring of the writer and one reader, each ten seconds. */
function inside(newestMs: number): Sample[] {
  const each = (labels: Record<string, string>, value: (index: number) => number) =>
    series(labels, newestMs, value, TEN, 110);
  return ["shop-w", "shop-r1"].flatMap((database, place) => {
    const load = (event: string, type: string, value: (index: number) => number) =>
      each({ ...rds("insights_db_load_average", database), wait_event: event, wait_event_type: type }, value);
    const cpu = (mode: string, value: (index: number) => number) =>
      each({ ...rds("os_cpu_utilization_percent", database), mode }, value);
    const wave = (index: number) => 1 + Math.sin(index / 9 + place);
    const memory = (name: string, bytes: number) => each(rds(`os_${name}_bytes`, database), () => bytes);
    return [
      ...load("CPU", "CPU", (index) => 2 * wave(index)),
      ...load("io/table/sql/handler", "io", (index) => 1 + index / 60),
      ...load("synch/mutex/innodb/trx_mutex", "synch", (index) => (index % 20 > 12 ? 2 : 0)),
      // What the ten greatest leave over is a tenth.
      ...each(
        rds("insights_db_load_average", database),
        (index) => 2 * wave(index) + 1 + index / 60 + (index % 20 > 12 ? 2 : 0) + 0.1,
      ),
      ...cpu("user", (index) => 20 * wave(index)),
      ...cpu("system", () => 6),
      ...cpu("wait", (index) => index % 12),
      ...cpu("steal", () => 1),
      ...cpu("nice", () => 0.5),
      ...cpu("irq", () => 0.5),
      ...cpu("idle", (index) => 92 - 20 * wave(index) - (index % 12)),
      ...cpu("total", (index) => 8 + 20 * wave(index) + (index % 12)),
      ...each(rds("os_vcpus", database), () => 4),
      ...each(rds("os_load1", database), (index) => 3 * wave(index)),
      ...memory("memory_total", 16e9),
      ...memory("memory_free", 1e9),
      ...memory("memory_cached", 4e9),
      ...memory("swap_total", 2e9),
      ...memory("swap_free", 1.9e9),
    ];
  });
}

const LIKE = "SELECT * FROM orders WHERE note LIKE ?";

/** Statements of the writer, a value a minute; what Performance Insights does not name is half a session. */
function statements(newestMs: number): Sample[] {
  const load = (value: number, labels: Record<string, string> = {}) =>
    series({ ...rds("insights_sql_load_average", "shop-w"), ...labels }, newestMs, () => value);
  return [
    ...load(3, { sql_id: "5F1A", statement: LIKE }),
    ...load(1.5, { sql_id: "77C0", statement: "COMMIT" }),
    ...load(5),
  ];
}

/** Two services with Container Insights. */
function containers(newestMs: number): Sample[] {
  return ["api", "worker"].flatMap((service, place) => {
    const of = (metric: string) => ({
      ...{ ...ACCOUNT, __name__: metric, dimension_ClusterName: "prod", dimension_ServiceName: service },
      name: `arn:aws:ecs:ap-northeast-1:123456789012:service/prod/${service}`,
    });
    const insights = (metric: string, value: (index: number) => number) =>
      series(of(`aws_ecs_containerinsights_${metric}`), newestMs, value);
    return [
      ...insights("cpu_utilized_average", (index) => 300 + 10 * index),
      ...insights("cpu_reserved_average", () => 1024),
      ...insights("memory_utilized_average", () => 700),
      ...insights("memory_reserved_average", () => 2048),
      ...insights("running_task_count_average", () => 4 - place),
      ...insights("running_task_count_minimum", (index) => (index === 12 ? 1 : 4 - place)),
      ...insights("pending_task_count_maximum", (index) => (index === 12 ? 2 : 0)),
      ...series(of("aws_ecs_service_desired_tasks"), newestMs + 2 * MINUTE, () => 4 - place),
    ];
  });
}

test.describe.configure({ mode: "serial" });
test.use(OWN_SERVER);
let system: System;
let newestMs = 0;

test.beforeAll(async () => {
  system = await start("server", () => ({}), untilReady);
  newestMs = Math.floor(Date.now() / MINUTE) * MINUTE - 2 * MINUTE;
  await writeSamples(system.url, aurora(newestMs));
});
test.afterAll(() => system.stop());

/** With the groups open that stand folded as long as nothing in them is near its limit. */
const open = (page: import("@playwright/test").Page, query = "from=now-15m&to=now") =>
  page.goto(`${system.url}/?${query}&open=aws_database,aws_database_os,aws_balancer,aws_containers`);

/** Horizontal place of the right end of what is drawn, and of the left edge of the hatching; both move with time. */
async function edges(panel: Locator): Promise<{ drawn: number; hatched: number }> {
  const path = panel.locator("path.lw-line-period").first();
  await expect.poll(async () => (await path.getAttribute("d")) ?? "").not.toBe("");
  return panel.evaluate((element) => {
    const line = element.querySelector("path.lw-line-period")?.getAttribute("d") ?? "";
    const late = element.querySelector("rect.lw-late")?.getAttribute("x");
    return { drawn: Number(line.match(/H([\d.]+)$/)?.[1]), hatched: Number(late) };
  });
}

test("databases and load balancers, as CloudWatch tells of them", async ({ page }) => {
  await open(page);
  await test.step("groups with data are shown, those without are not", async () => {
    await expect(page.getByRole("region", { name: "AWS databases", exact: true })).toBeVisible();
    await expect(page.getByRole("region", { name: "AWS load balancers" })).toBeVisible();
    for (const name of ["AWS containers", "AWS instances", "AWS caches", "AWS queues", "AWS functions"])
      await expect(page.getByRole("region", { name })).toHaveCount(0);
  });
  await test.step("counts of what seldom happens are not called late when there are none", async () => {
    const panel = page.locator("#panel-aws-lb-target-errors");
    await panel.scrollIntoViewIfNeeded();
    await expect(panel.getByText(/^CloudWatch: none yet for \d+ min$/)).toBeVisible();
    const { drawn, hatched } = await edges(panel);
    expect(drawn).toBeCloseTo(hatched, 0);
  });
  await test.step("what has not come yet is hatched and said, and nothing is drawn there", async () => {
    const panel = page.locator("#panel-aws-lb-requests");
    await panel.scrollIntoViewIfNeeded();
    await expect(panel.getByText(/^CloudWatch is \d min behind$/)).toBeVisible();
    const { drawn, hatched } = await edges(panel);
    expect(drawn).toBeCloseTo(hatched, 0);
    await expect(panel.locator("rect.lw-late")).toHaveAttribute("visibility", "visible");
    // Among signals of each second the load balancer's part is no longer either.
    const funnel = page.locator("#panel-rps path.lw-line-period");
    await expect.poll(async () => (await funnel.getAttribute("d")) ?? "").toMatch(/H[\d.]+$/);
    // With nothing else beside it, it is behind, as on every other chart of CloudWatch, and not stale.
    const mission = page.locator("#panel-rps");
    await expect(mission.getByText(/^CloudWatch is \d min behind$/)).toBeVisible();
    await expect(mission.locator("rect.lw-late")).toHaveAttribute("visibility", "visible");
    await expect(mission.locator("rect.lw-stale")).toHaveAttribute("visibility", "hidden");
    await expect(mission.locator(".lw-badge-stale")).toHaveCount(0);
    // 6,000 a minute are 100 a second, in every step: no value is zero for being late.
    const path = (await panel.locator("path.lw-line-period").first().getAttribute("d")) ?? "";
    expect(new Set(path.match(/V[\d.]+/g)).size).toBeLessThanOrEqual(1);
  });
  await test.step("writer and readers stand side by side on one axis; the one that stands out is named", async () => {
    const panel = page.locator("#panel-aws-db-cpu");
    await panel.scrollIntoViewIfNeeded();
    const writer = panel.getByRole("figure", { name: /^CPU: writer/ });
    const readers = panel.getByRole("figure", { name: /^CPU: readers \(5\)/ });
    await expect(writer).toBeVisible();
    await expect(readers).toBeVisible();
    const [left, right] = [await writer.boundingBox(), await readers.boundingBox()];
    expect(left?.y).toBeCloseTo(right?.y ?? 0, 0);
    expect((left?.x ?? 0) + (left?.width ?? 0)).toBeLessThanOrEqual(right?.x ?? 0);
    const ticks = (figure: Locator) => figure.locator(".recharts-yAxis-tick-labels").allTextContents();
    await expect.poll(async () => (await ticks(writer)).join()).toBe((await ticks(readers)).join());
    await expect(readers.getByText("⚠ shop-r5 stands out")).toBeVisible();
    await expect(readers.getByText("Mean of 5")).toBeVisible();
    await expect(readers.locator("path.lw-line-faint")).toHaveCount(4);
  });
  await test.step("a database's CPU and operations are seen against their limits in one look", async () => {
    const panel = page.locator("#panel-aws-db-limits");
    await panel.scrollIntoViewIfNeeded();
    const writer = panel.getByRole("figure", { name: /: writer/ });
    await expect(writer.locator("path.lw-line-limit")).toHaveAttribute("d", /H/);
    await expect(writer.getByRole("listitem").filter({ hasText: "CPU" })).toContainText("59");
    await expect(writer.getByRole("listitem").filter({ hasText: "I/O operations" })).toContainText("20");
    await expect(writer.getByRole("listitem").filter({ hasText: "Limit" })).toContainText("100");
  });
  await test.step("the total waits for the last instance, and does not dip", async () => {
    const readers = page.locator("#panel-aws-db-cpu").getByRole("figure", { name: /readers/ });
    await readers.scrollIntoViewIfNeeded();
    const end = async (part: string) =>
      Number(((await readers.locator(part).last().getAttribute("d")) ?? "").match(/H([\d.]+)$/)?.[1]);
    await expect.poll(() => end("path.lw-line-period:not(.lw-line-faint)")).toBeGreaterThan(0);
    expect(await end("path.lw-line-period:not(.lw-line-faint)")).toBeLessThan(await end("path.lw-line-faint"));
  });
  await test.step("headroom of RDS connections says how old it is", async () => {
    const card = page.getByRole("listitem").filter({ hasText: "RDS connections" });
    await expect(card).toContainText("138 of 200");
    await expect(card).toContainText(/CloudWatch, \d min ago/);
  });
  await test.step("total, each and spread can be chosen, and the address holds the choice", async () => {
    const group = page.getByRole("region", { name: "AWS databases", exact: true });
    const readers = group.getByRole("figure", { name: /^CPU: readers/ });
    await readers.scrollIntoViewIfNeeded();
    await group.getByText("Spread", { exact: true }).click();
    await expect(page).toHaveURL(/show=aws_database%3Aspread/);
    // Charts are drawn anew where they are near the eye.
    await readers.scrollIntoViewIfNeeded();
    await expect(readers.getByText("Lowest to highest of 5")).toBeVisible();
    await expect.poll(() => readers.locator("path.lw-area").first().getAttribute("d")).toMatch(/Z$/);
    await group.getByText("Each", { exact: true }).click();
    await readers.scrollIntoViewIfNeeded();
    await expect(readers.getByText("shop-r1", { exact: true })).toBeVisible();
    await page.goto(page.url());
    await expect(group.getByRole("radio", { name: "Each" })).toBeChecked();
  });
  await test.step("the palette offers the panels of AWS that are on the page", async () => {
    await expect(page.getByRole("region", { name: "AWS databases" })).toBeVisible();
    await page.keyboard.press("Control+k");
    await page.getByPlaceholder("Find a panel, page, run, alert, target or command").fill("AWS");
    const found = page.getByRole("dialog");
    await expect(found.getByText("AWS databases").first()).toBeVisible();
    await expect(found.getByText("AWS queues")).toHaveCount(0);
  });
});

test("a range shorter than the delay says when the newest value was", async ({ page }) => {
  await open(page, "from=now-1m&to=now");
  const panel = page.locator("#panel-aws-lb-requests");
  await panel.scrollIntoViewIfNeeded();
  await expect(panel.getByText(/The newest value from CloudWatch is of .+ Choose a longer range/)).toBeVisible();
});

test("in Japanese", async ({ page }) => {
  await page.addInitScript(() => localStorage.setItem("loadwatch.language", "ja"));
  await open(page);
  const panel = page.locator("#panel-aws-lb-requests");
  await panel.scrollIntoViewIfNeeded();
  await expect(panel.getByText(/^CloudWatch は\d分遅れ$/)).toBeVisible();
  await expect(page.getByRole("figure", { name: /^CPU：リーダー（5台）/ })).toBeVisible();
});

test("axe finds nothing, and 390 px are enough, in either scheme", async ({ page }) => {
  await open(page, "from=now-15m&to=now&show=aws_database:spread");
  await page.locator("#panel-aws-db-cpu").scrollIntoViewIfNeeded();
  await expect(page.getByRole("figure", { name: /^CPU: readers/ })).toBeVisible();
  await expectAccessibleInBoth(page);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.locator("#panel-aws-db-cpu").scrollIntoViewIfNeeded();
  await expect(page.getByRole("figure", { name: /^CPU: readers/ })).toBeVisible();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(wide).toBeLessThanOrEqual(390);
});

test.describe("inside databases and containers", () => {
  let writtenMs = 0;
  let timer: ReturnType<typeof setInterval>;
  /** What is new since the last time. */
  const writeInside = () => {
    const [sinceMs, newestTen] = [writtenMs, Math.floor(Date.now() / TEN) * TEN - 40_000];
    writtenMs = newestTen;
    return writeSamples(
      system.url,
      inside(newestTen).filter(({ timeMs }) => timeMs > sinceMs),
    );
  };
  test.beforeAll(async () => {
    await writeSamples(system.url, [...statements(newestMs), ...containers(newestMs)]);
    await writeInside();
    timer = setInterval(() => void writeInside(), TEN);
  });
  test.afterAll(() => clearInterval(timer));

  test("what waits in databases and what containers use, on one page", async ({ page }) => {
    await open(page);
    await test.step("the operating system below a database is drawn as often as it is monitored", async () => {
      const group = page.getByRole("region", { name: "AWS databases: operating system" });
      const cpu = group.locator("#panel-aws-db-os-cpu").getByRole("figure", { name: /: writer/ });
      await cpu.scrollIntoViewIfNeeded();
      for (const name of ["User", "System", "Waits for storage", "Steal"])
        await expect(cpu.getByRole("button", { name, exact: true })).toBeVisible();
      await expect(cpu.getByText(/^Enhanced Monitoring is \d min behind$/)).toBeVisible();
      const boxes = async () =>
        ((await cpu.locator("path.lw-area-stacked").first().getAttribute("d")) ?? "").match(/Z/g)?.length ?? 0;
      await expect.poll(boxes).toBeGreaterThan(75);
      const memory = group.locator("#panel-aws-db-os-memory").getByRole("figure", { name: /: writer/ });
      await expect(memory.getByRole("listitem").filter({ hasText: "In use" })).toContainText("10.2 GiB");
      await expect(group.locator("#panel-aws-db-os-load path.lw-line-limit").first()).toHaveAttribute("d", /H/);
      await expect(group.locator("#panel-aws-db-os-swap")).toBeVisible();
    });
    await test.step("containers' CPU and memory stand against what is reserved", async () => {
      const group = page.getByRole("region", { name: "AWS containers" });
      const cpu = group.locator("#panel-aws-ecs-insights-cpu");
      await cpu.scrollIntoViewIfNeeded();
      // 490 units of 1,024 in each of seven tasks; what they reserve is a core each.
      await expect(
        cpu.getByRole("listitem").filter({ has: page.getByRole("button", { name: "Used · Total of 2" }) }),
      ).toContainText("3.35");
      await expect(
        cpu.getByRole("listitem").filter({ has: page.getByRole("button", { name: "Reserved · Total of 2" }) }),
      ).toContainText("7");
      const memory = group.locator("#panel-aws-ecs-insights-memory");
      await expect(memory.getByRole("listitem").filter({ hasText: "Reserved" })).toContainText("14 GiB");
      const tasks = group.locator("#panel-aws-ecs-insights-tasks");
      await expect(
        tasks.getByRole("listitem").filter({ has: page.getByRole("button", { name: "Desired · Total of 2" }) }),
      ).toContainText("7");
    });
    await test.step("database load is a stack of waits under its cores, in ten seconds", async () => {
      const panel = page.locator("#panel-aws-db-load-waits");
      await panel.scrollIntoViewIfNeeded();
      const writer = panel.getByRole("figure", { name: /: writer/ });
      const readers = panel.getByRole("figure", { name: /: readers \(1\)/ });
      for (const name of ["CPU", "io/table/sql/handler", "synch/mutex/innodb/trx_mutex", "Others", "vCPUs"])
        await expect(writer.getByRole("button", { name, exact: true })).toBeVisible();
      await expect(writer.locator("path.lw-line-limit")).toHaveAttribute("d", /H/);
      await expect(writer.getByText(/^Performance Insights is \d min behind$/)).toBeVisible();
      const layer = (figure: Locator) => figure.locator('path.lw-area-stacked[data-series="io/table/sql/handler"]');
      // Fifteen minutes of ten seconds, without what has not come yet.
      const boxes = async () => ((await layer(writer).getAttribute("d")) ?? "").match(/Z/g)?.length ?? 0;
      await expect.poll(boxes).toBeGreaterThan(75);
      expect(await boxes()).toBeLessThanOrEqual(90);
      expect(await layer(writer).getAttribute("style")).toBe(await layer(readers).getAttribute("style"));
      const group = page.getByRole("region", { name: "AWS databases", exact: true });
      await group.getByText("Each", { exact: true }).click();
      await expect(panel.getByRole("figure", { name: "Load by what it waits for: shop-r1" })).toBeVisible();
      await group.getByText("Spread", { exact: true }).click();
      await expect(writer.getByRole("button", { name: "CPU", exact: true })).toBeVisible();
    });
    await test.step("statements by load are a table with its window and its delay", async () => {
      const panel = page.locator("#panel-aws-db-statements");
      await panel.scrollIntoViewIfNeeded();
      await expect(panel.getByRole("row")).toHaveText([/Sessions/, /SELECT/, /COMMIT/, /All others/]);
      await expect(panel.getByRole("row").nth(1)).toContainText(LIKE);
      await expect(panel.getByText(/^Means of .+ to .+/)).toBeVisible();
      await expect(panel.getByText(/^Performance Insights, \d min ago$/)).toBeVisible();
      await expectAccessible(page);
      await page.setViewportSize({ width: 390, height: 844 });
      await panel.scrollIntoViewIfNeeded();
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    });
  });

  test("axe finds nothing, and 390 px are enough, in either scheme", async ({ page }) => {
    await open(page, "from=now-15m&to=now&show=aws_database:each");
    await page.locator("#panel-aws-db-load-waits").scrollIntoViewIfNeeded();
    await expect(page.getByRole("figure", { name: "Load by what it waits for: shop-w" })).toBeVisible();
    await expectAccessibleInBoth(page);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.locator("#panel-aws-db-os-cpu").scrollIntoViewIfNeeded();
    await expect(page.locator("#panel-aws-db-os-cpu path.lw-area-stacked").first()).toHaveAttribute("d", /Z/);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  });
});
