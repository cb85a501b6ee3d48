/** AWS on the live page, with series as the cloudwatch collector sends them: once a minute, and minutes late. */
import type { Locator } from "@playwright/test";
import { expect, expectAccessible, test } from "./live-test";
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

function series(labels: Record<string, string>, newestMs: number, value: (index: number) => number): Sample[] {
  return Array.from({ length: 20 }, (_, index) => ({
    labels,
    timeMs: newestMs - index * MINUTE,
    value: value(19 - index),
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
    ...series(balancer("request_count_sum"), newestMs, () => 6000),
  ];
}

test.describe.configure({ mode: "serial" });
let system: System;
let newestMs = 0;

test.beforeAll(async () => {
  system = await start("server", () => ({}), untilReady);
  newestMs = Math.floor(Date.now() / MINUTE) * MINUTE - 2 * MINUTE;
  await writeSamples(system.url, aurora(newestMs));
});
test.afterAll(() => system.stop());

const open = (page: import("@playwright/test").Page, query = "from=now-15m&to=now") =>
  page.goto(`${system.url}/?${query}`);

/** Horizontal place of the right end of what is drawn, and of the left edge of the hatching. */
async function edges(panel: Locator): Promise<{ drawn: number; hatched: number }> {
  const path = panel.locator("path.lw-line-period").first();
  await expect.poll(async () => (await path.getAttribute("d")) ?? "").not.toBe("");
  const drawn = Number(((await path.getAttribute("d")) ?? "").match(/H([\d.]+)$/)?.[1]);
  const hatched = Number(await panel.locator("rect.lw-late").first().getAttribute("x"));
  return { drawn, hatched };
}

test("groups with data are shown, those without are not", async ({ page }) => {
  await open(page);
  await expect(page.getByRole("region", { name: "AWS databases" })).toBeVisible();
  await expect(page.getByRole("region", { name: "AWS load balancers" })).toBeVisible();
  for (const name of ["AWS containers", "AWS instances", "AWS caches", "AWS queues", "AWS functions"])
    await expect(page.getByRole("region", { name })).toHaveCount(0);
});

test("what has not come yet is hatched and said, and nothing is drawn there", async ({ page }) => {
  await open(page);
  const panel = page.locator("#panel-aws-lb-requests");
  await panel.scrollIntoViewIfNeeded();
  await expect(panel.getByText(/^CloudWatch is \d min behind$/)).toBeVisible();
  const { drawn, hatched } = await edges(panel);
  expect(drawn).toBeCloseTo(hatched, 0);
  await expect(panel.locator("rect.lw-late")).toHaveAttribute("visibility", "visible");
  // Among signals of each second the load balancer's part is no longer either.
  const funnel = page.locator("#panel-rps path.lw-line-period");
  await expect.poll(async () => (await funnel.getAttribute("d")) ?? "").toMatch(/H[\d.]+$/);
  // 6,000 a minute are 100 a second, in every step: no value is zero for being late.
  const path = (await panel.locator("path.lw-line-period").first().getAttribute("d")) ?? "";
  expect(new Set(path.match(/V[\d.]+/g)).size).toBeLessThanOrEqual(1);
});

test("a range shorter than the delay says when the newest value was", async ({ page }) => {
  await open(page, "from=now-1m&to=now");
  const panel = page.locator("#panel-aws-lb-requests");
  await panel.scrollIntoViewIfNeeded();
  await expect(panel.getByText(/The newest value from CloudWatch is of .+ Choose a longer range/)).toBeVisible();
});

test("writer and readers stand side by side on one axis; the one that stands out is named", async ({ page }) => {
  await open(page);
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

test("the total waits for the last instance, and does not dip", async ({ page }) => {
  await open(page);
  const readers = page.locator("#panel-aws-db-cpu").getByRole("figure", { name: /readers/ });
  await readers.scrollIntoViewIfNeeded();
  const end = async (part: string) =>
    Number(((await readers.locator(part).last().getAttribute("d")) ?? "").match(/H([\d.]+)$/)?.[1]);
  await expect.poll(() => end("path.lw-line-period:not(.lw-line-faint)")).toBeGreaterThan(0);
  expect(await end("path.lw-line-period:not(.lw-line-faint)")).toBeLessThan(await end("path.lw-line-faint"));
});

test("total, each and spread can be chosen, and the address holds the choice", async ({ page }) => {
  await open(page);
  const group = page.getByRole("region", { name: "AWS databases" });
  const readers = group.getByRole("figure", { name: /^CPU: readers/ });
  await readers.scrollIntoViewIfNeeded();
  await group.getByText("Spread", { exact: true }).click();
  await expect(page).toHaveURL(/show=aws_database%3Aspread/);
  await expect(readers.getByText("Lowest to highest of 5")).toBeVisible();
  await expect.poll(() => readers.locator("path.lw-area").first().getAttribute("d")).toMatch(/Z$/);
  await group.getByText("Each", { exact: true }).click();
  await expect(readers.getByText("shop-r1", { exact: true })).toBeVisible();
  await page.goto(page.url());
  await expect(group.getByRole("radio", { name: "Each" })).toBeChecked();
});

test("headroom of RDS connections says how old it is", async ({ page }) => {
  await open(page);
  const card = page.getByRole("listitem").filter({ hasText: "RDS connections" });
  await expect(card).toContainText("138 of 200");
  await expect(card).toContainText(/CloudWatch, \d min ago/);
});

test("in Japanese", async ({ page }) => {
  await page.addInitScript(() => localStorage.setItem("loadwatch.language", "ja"));
  await open(page);
  const panel = page.locator("#panel-aws-lb-requests");
  await panel.scrollIntoViewIfNeeded();
  await expect(panel.getByText(/^CloudWatch は\d分遅れ$/)).toBeVisible();
  await expect(page.getByRole("figure", { name: /^CPU：リーダー（5台）/ })).toBeVisible();
});

for (const scheme of ["light", "dark"] as const) {
  test(`axe finds nothing, and 390 px are enough, ${scheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
    await open(page, "from=now-15m&to=now&show=aws_database:spread");
    await page.locator("#panel-aws-db-cpu").scrollIntoViewIfNeeded();
    await expect(page.getByRole("figure", { name: /^CPU: readers/ })).toBeVisible();
    await expectAccessible(page);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.locator("#panel-aws-db-cpu").scrollIntoViewIfNeeded();
    await expect(page.getByRole("figure", { name: /^CPU: readers/ })).toBeVisible();
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(wide).toBeLessThanOrEqual(390);
  });
}
