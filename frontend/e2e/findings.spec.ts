/** What ran out first: on the live page, on a run's page, in its report and in the meeting. */
import { expect, expectAccessibleInBoth, expectWithin, OWN_SERVER, test } from "./live-test";
import { type Sample, writeSamples } from "./remote-write";
import { addRun, RESULT } from "./run-fixtures";
import { type System, start, untilReady } from "./start-system";

const LIMIT = 8;
const WAITS_PER_SECOND = 40;
const SENTENCE = /The pool of 8 connections of shop orders ran out/;

test.use(OWN_SERVER);
test.describe.configure({ mode: "serial" });

let system: System;

test.beforeAll(async () => {
  // No agent: nothing but what is written here can be found.
  system = await start("server", () => ({}), untilReady);
});
test.afterAll(() => system.stop());

/** A pool at one second: from the fifth on it is full, and requests wait. */
function poolAt(second: number, timeMs: number): readonly Sample[] {
  const full = second >= 5;
  const waited = Math.max(0, second - 5) * WAITS_PER_SECOND;
  const values = {
    go_sql_max_open_connections: LIMIT,
    go_sql_open_connections: LIMIT,
    go_sql_in_use_connections: full ? LIMIT : 2,
    go_sql_idle_connections: full ? 0 : LIMIT - 2,
    go_sql_wait_count_total: waited,
    go_sql_wait_duration_seconds_total: waited / 10,
  };
  const labels = { job: "shops", instance: "shop", db_name: "orders" };
  return Object.entries(values).map(([name, value]) => ({ labels: { ...labels, __name__: name }, value, timeMs }));
}

test("where nothing is measured the page says that it cannot tell, and what to paste", async ({ page }) => {
  await page.goto(system.url);
  const headline = page.getByRole("region", { name: "What ran out first" });
  await expect(headline).toContainText("Cannot tell what ran out");
  await expect(headline).toContainText("dbstats");
  await headline.getByRole("button", { name: "Details" }).click();
  await expect(headline.locator("pre").filter({ hasText: "dbstats:" }).first()).toBeVisible();
  await expectAccessibleInBoth(page, "main");
});

test("a run leads with what ran out, and the evidence is one click away", async ({ page, playwright }) => {
  const name = `findings-${Math.random().toString(36).slice(2, 7)}`;
  // Within what the server keeps.
  const shape = { ...RESULT, startMs: Math.floor(Date.now() / 1000) * 1000 - 3_600_000 };
  const request = await playwright.request.newContext({ baseURL: system.url });
  const seconds = Array.from({ length: RESULT.seconds + 1 }, (_, second) => second);
  await writeSamples(
    system.url,
    seconds.flatMap((second) => poolAt(second, shape.startMs + second * 1000)),
  );
  const id = await addRun(request, { name }, shape);
  await page.goto(`${system.url}/runs/${id}`);

  const main = page.getByRole("main");
  await expect(main.getByText(SENTENCE).first()).toBeVisible();
  const figures = main.locator('dl[aria-label="Figures of the run"]');
  await expect(figures.locator("dt")).toHaveText([/^Good answers/, /^Response p95/, /^Failed/, /^Response p99/]);
  const first = main.getByRole("article").first();
  await expect(first.locator(".lw-line").first()).toBeAttached();
  await expect(first.locator(".lw-limit").first()).toBeAttached();
  // Verdict, sentence, figures and the chart of what ran out are read without scrolling.
  for (const [width, height] of [
    [1440, 900],
    [1280, 720],
  ] as const) {
    await page.setViewportSize({ width, height });
    for (const part of [main.getByText(SENTENCE).first(), figures, first]) {
      await expect(part).toBeInViewport({ ratio: 1 });
    }
  }
  await page.setViewportSize({ width: 1280, height: 860 });
  await main.getByRole("button", { name: "Evidence" }).click();
  const section = page.getByRole("region", { name: "Findings" });
  const finding = section.getByRole("listitem").filter({ hasText: SENTENCE }).first();
  await expect(finding.getByRole("img", { name: /limit 8$/ })).toBeVisible();
  await expect(finding.getByText("instance=shop", { exact: true })).toBeVisible();
  await expect(finding.getByText("Rule of thumb")).toBeVisible();
  await expect(finding.getByText("What would show that this is wrong")).toBeVisible();
  // The keyboard stands on it, and closes it again.
  await page.keyboard.press("Enter");
  await expect(finding.getByText("Rule of thumb")).toBeHidden();
  await page.keyboard.press("Enter");

  const unchecked = section.getByText(/^Could not be checked \(/);
  await unchecked.click();
  await expect(section.getByText(/needs mysql_/).first()).toBeVisible();
  await expectAccessibleInBoth(page, "main");

  await page.setViewportSize({ width: 390, height: 844 });
  await expectWithin(page, 390);

  await page.setViewportSize({ width: 1280, height: 860 });
  await finding.getByRole("button", { name: "Mark as wrong" }).click();
  const rejection = page.getByRole("dialog", { name: /^Mark as wrong: / });
  await expect(rejection.getByRole("button", { name: "Mark as wrong" })).toBeDisabled();
  await rejection.getByLabel("Reason").fill("the test asked for more than was planned");
  await expectAccessibleInBoth(page, "[role=dialog]");
  await rejection.getByRole("button", { name: "Mark as wrong" }).click();
  await expect(finding.getByText(/more than was planned/)).toBeVisible();
  await finding.getByRole("button", { name: "Take the mark back" }).click();
  await expect(finding.getByRole("button", { name: "Mark as wrong" })).toBeVisible();

  await finding.getByRole("button", { name: "Mute on this target" }).click();
  await page
    .getByRole("dialog", { name: /^Mute: / })
    .getByRole("button", { name: "Mute", exact: true })
    .click();
  await expect(main.getByText("Only what is muted")).toBeVisible();
  await finding.getByRole("button", { name: "Say it again" }).click();
  await expect(main.getByText("Only what is muted")).toHaveCount(0);

  await section.getByRole("button", { name: "Compute again with today's engine" }).click();
  await expect(section.getByText(/^Version \d+ of the engine says the same\./)).toBeVisible();

  const report = await request.get(`/api/runs/${id}/report?format=html&lang=ja`);
  expect(await report.text()).toContain("最初に尽きたもの");
  await request.dispose();
  await page.goto(`${system.url}/runs/meeting?run=${id}`);
  await expect(page.getByRole("region", { name: "What ran out first" })).toContainText("ran out");
  await page.setViewportSize({ width: 390, height: 844 });
  await expectWithin(page, 390);
});

test("a limit of files that is not in force is said with the restart that it takes", async ({ page, playwright }) => {
  const request = await playwright.request.newContext({ baseURL: system.url });
  const shape = { ...RESULT, startMs: Math.floor(Date.now() / 1000) * 1000 - 10_800_000 };
  const unit = (bound: string) => ({ __name__: "process_unit_max_fds", unit: "shop.service", bound });
  const limits = [
    { labels: { __name__: "process_max_fds" }, value: 1024 },
    { labels: { __name__: "process_max_fds_hard" }, value: 4096 },
    { labels: unit("soft"), value: 65_536 },
    { labels: unit("hard"), value: 65_536 },
  ];
  const seconds = Array.from({ length: RESULT.seconds + 1 }, (_, second) => shape.startMs + second * 1000);
  await writeSamples(
    system.url,
    seconds.flatMap((timeMs) =>
      limits.map(({ labels, value }) => ({ labels: { ...labels, job: "shops", instance: "files" }, value, timeMs })),
    ),
  );
  const id = await addRun(request, { name: "limits of files" }, shape);
  await request.dispose();
  await page.goto(`${system.url}/runs/${id}`);
  const findings = page.getByRole("region", { name: "Findings" });
  await expect(findings).toContainText("LimitNOFILE of shop.service was changed to 65,536 and is not in force");
  await expect(findings.locator("pre").filter({ hasText: "systemctl restart shop.service" })).toBeAttached();
});

test("a run without a finding is read without scrolling as well", async ({ page, playwright }) => {
  const request = await playwright.request.newContext({ baseURL: system.url });
  // Nothing was measured beside the load.
  const shape = { ...RESULT, startMs: Math.floor(Date.now() / 1000) * 1000 - 7_200_000 };
  const name = `bare-${Math.random().toString(36).slice(2, 7)}`;
  const id = await addRun(request, { name, threshold: "p95<100ms" }, shape);
  await request.dispose();
  await page.goto(`${system.url}/runs/${id}`);
  const main = page.getByRole("main");
  const opening = main.locator("[data-verdict]").filter({ has: page.getByRole("heading", { level: 1 }) });
  await expect(opening.locator('dl[aria-label="Figures of the run"] dt')).toHaveCount(4);
  const first = main.getByRole("article").first();
  await expect(first).toHaveAccessibleName("Requests by outcome");
  await expect(first.locator(".lw-line").first()).toBeAttached();
  for (const [width, height] of [
    [1440, 900],
    [1280, 720],
  ] as const) {
    await page.setViewportSize({ width, height });
    await expect(opening).toBeInViewport({ ratio: 1 });
    await expect(first).toBeInViewport({ ratio: 1 });
  }
  await expect(main.getByRole("button", { name: "Adjust" })).toBeAttached();
});

test("the live page says it while it lasts, and says nothing of the present while it shows the past", async ({
  page,
}) => {
  const begun = Date.now();
  let second = 0;
  const write = () => {
    const now = second;
    second += 1;
    return writeSamples(system.url, poolAt(now, begun - 20_000 + now * 1000));
  };
  while (second < 20) await write();
  const timer = setInterval(() => void write().catch(() => undefined), 1000);
  try {
    await page.goto(system.url);
    const headline = page.getByRole("region", { name: "What ran out first" });
    await expect(headline).toContainText("The pool of 8 connections of shop orders ran out");
    await headline.getByRole("button", { name: "Evidence" }).click();
    await expect(headline.getByText("Rule of thumb")).toBeVisible();
    await expectAccessibleInBoth(page, "main");
    await headline.getByRole("button", { name: "Hide" }).click();
    await expect(headline.getByText("Rule of thumb")).toBeHidden();
    await page.getByRole("button", { name: /^Live:/ }).click();
    await expect(headline).toHaveCount(0);
    await expect(page.getByText("These charts show the past")).toBeVisible();
  } finally {
    clearInterval(timer);
  }
});
