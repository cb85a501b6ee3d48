import type { APIRequestContext } from "@playwright/test";
import { expect, expectAccessibleInBoth, expectWithin, test } from "./live-test";
import { writeSamples } from "./remote-write";
import { addRun as add, type Facts, RESULT, type ResultShape } from "./run-fixtures";

/** Names differ from test to test and from one attempt to the next: the server keeps what it was given. */
const unique = (name: string) => `${name}-${Math.random().toString(36).slice(2, 7)}`;

const addRun = (request: APIRequestContext, facts: Facts, shape: Partial<ResultShape> = {}) =>
  add(request, facts, { ...RESULT, seconds: 30, failEvery: 0, ...shape });

let pair: Promise<string[]> | undefined;

/** Repeats of two commits: the second one is slower. The same for all who only look at them. */
function pairOfCommits(request: APIRequestContext): Promise<string[]> {
  pair ??= addPair(request);
  return pair;
}

async function addPair(request: APIRequestContext): Promise<string[]> {
  const scenario = unique("pair");
  const runs: string[] = [];
  for (const [commit, latencyMs] of [
    ["aaaa111", 20],
    ["bbbb222", 60],
  ] as const) {
    for (const repeat of [1, 2, 3]) {
      const shape = { latencyMs: latencyMs + repeat / 4, startMs: RESULT.startMs + runs.length * 100_000 };
      runs.push(await addRun(request, { name: `${commit} ${repeat}`, scenario, commit }, shape));
    }
  }
  return runs;
}

const comparePath = (runs: readonly string[]) => `/runs/compare?${runs.map((run) => `run=${run}`).join("&")}`;

test("repeats are taken together, told better or worse, and the base can be changed", async ({ page, request }) => {
  await page.goto(comparePath(await pairOfCommits(request)));
  const groups = page.getByRole("list", { name: "What is compared" });
  await expect(groups.getByRole("list")).toHaveCount(2);
  const figures = page.getByRole("region", { name: "Figures", exact: true }).getByRole("table");
  const p95 = figures.getByRole("row", { name: /^Response p95/ });
  await expect(page.getByRole("region", { name: "In one sentence" })).toContainText(
    /good answers the same \(40\/s\); p95 \d+ ms → 1\d\d ms; 3 runs each.*worse · holds over repeats/,
  );
  await expect(p95).toContainText("worse · holds over repeats");
  await expect(p95).toContainText("+");
  await expect(page.getByRole("article", { name: "Response p95" }).locator("path.lw-line")).toHaveCount(6);
  await expect(
    page.getByRole("region", { name: "What was different", exact: true }).getByRole("row", { name: /^Commit/ }),
  ).toContainText("bbbb222");

  await page.getByRole("switch", { name: "p-values and single runs" }).click();
  await expect(p95).toContainText("p <");
  await page.getByRole("switch", { name: "Differences only" }).click();
  await expect(figures.getByRole("row", { name: /^Requests sent/ })).toHaveCount(0);

  await page.getByRole("button", { name: "Make base: bbbb222" }).click();
  await expect(p95).toContainText("better");
  await expect(page).toHaveURL(/detail=1/);
  await page.reload();
  await expect(p95).toContainText("better");
  await expect(p95).toContainText("p <");
});

test("charts zoom together by elapsed time, runs are hidden and removed, the table is saved", async ({
  page,
  request,
}) => {
  const runs = await pairOfCommits(request);
  await page.goto(comparePath([runs[0] ?? "", runs[3] ?? "", runs[4] ?? ""]));
  const chart = page.getByRole("article", { name: "Response p95" });
  await expect(chart.locator("path.lw-line")).toHaveCount(3);
  await expect(page.getByRole("region", { name: "Figures", exact: true })).toContainText(
    "one run only: how far equal runs differ is assumed, not measured",
  );
  const box = await chart.locator(".lw-surface").boundingBox();
  if (box === null) throw new Error("the chart has no surface");
  await page.mouse.move(box.x + box.width * 0.3, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.7, box.y + 40, { steps: 4 });
  await page.mouse.up();
  await expect(page).toHaveURL(/zoom=\d/);
  await page.getByRole("button", { name: "Show all" }).click();
  await expect(page).not.toHaveURL(/zoom=/);

  await page
    .getByRole("button", { name: /^In the charts:/ })
    .first()
    .click();
  await expect(chart.locator("path.lw-line")).toHaveCount(2);
  await expect(page).toHaveURL(/hide=/);
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "CSV" }).click();
  expect((await saved).suggestedFilename()).toMatch(/\.csv$/);
  await page
    .getByRole("button", { name: /^Remove / })
    .last()
    .click();
  await expect(page).not.toHaveURL(new RegExp(runs[4] ?? ""));
  await page.goBack();
  await expect(page).toHaveURL(new RegExp(runs[4] ?? ""));
});

test("a run is found and added by keyboard", async ({ page, request }) => {
  const scenario = unique("add");
  const first = await addRun(request, { name: `${scenario}-one`, scenario, commit: "c1" });
  await addRun(request, { name: `${scenario}-two`, scenario, commit: "c2" }, { latencyMs: 40 });
  await page.goto(comparePath([first]));
  await expect(page.getByText("Choose two runs or more")).toBeVisible();
  await page.getByRole("combobox", { name: "Add a run" }).focus();
  await page.keyboard.type(`${scenario}-two`);
  await expect(page.getByRole("option", { name: new RegExp(`^${scenario}-two`) })).toBeVisible();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("list", { name: "What is compared" }).getByRole("list")).toHaveCount(2);
});

test("a sweep draws two figures over a parameter and says what is missing", async ({ page, request }) => {
  const scenario = unique("sweep");
  await addRun(request, { name: "s10", scenario, parameter: "pool=10" }, { latencyMs: 900 });
  await page.goto(`/runs/sweep?scenario=${scenario}`);
  await expect(page.getByText("More runs are needed for a sweep")).toBeVisible();
  await expect(page.getByText(`loadwatch run --scenario ${scenario} --param pool=20`)).toBeVisible();

  await addRun(request, { name: "s20", scenario, parameter: "pool=20" }, { latencyMs: 30 });
  await addRun(request, { name: "s40", scenario, parameter: "pool=40" }, { latencyMs: 28 });
  await page.goto(`/runs/sweep?scenario=${scenario}&first=p95&second=ok_rate`);
  const chart = page.getByRole("figure", { name: /^Response p95/ });
  // Three of each figure, on axes of their own.
  await expect(chart.locator("[data-point]")).toHaveCount(6);
  const headline = page.getByRole("region", { name: "In one sentence" });
  await expect(headline).toContainText("Best of those measured: pool = 20");
  await expect(headline).toContainText("the lowest of them is enough");
  await expect(chart.locator(".lw-xy-mark text").filter({ hasText: "best" })).toBeAttached();
  // 28 ms are no more than noise below 30 ms: of the two the lower value is best, and nothing shows that 40 is better.
  await expect(page.getByRole("row", { name: /^20/ })).toContainText("best");
  await expect(page.getByRole("row", { name: /^40/ })).not.toContainText("best");
  await expect(page.getByText("20, 40 cannot be told apart")).toBeVisible();
  await chart.getByRole("application").focus();
  await page.keyboard.press("Home");
  await expect(chart.getByText(/^pool = 10, /)).toBeAttached();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/runs\/\d{8}-\d{6}-\w+$/);
});

test("a sweep says which value to try next, and a trend draws all runs, or those of one set of parameters", async ({
  page,
  request,
}) => {
  const scenario = unique("next");
  const startMs = RESULT.startMs;
  for (const [place, pool] of ["8", "16", "32"].entries()) {
    const facts = { name: `pool ${pool}`, scenario, parameter: `pool=${pool}` };
    for (const repeat of [1, 2, 3]) {
      const at = { startMs: startMs + (place * 3 + repeat) * 100_000, latencyMs: 4000 / Number(pool) + repeat / 10 };
      await addRun(request, { ...facts, commit: `c${place}${repeat}` }, at);
    }
  }
  await page.goto(`/runs/sweep?scenario=${scenario}&first=p95&second=ok_rate`);
  const headline = page.getByRole("region", { name: "In one sentence" });
  await expect(headline).toContainText("Best of those measured: pool = 32");
  await expect(headline).toContainText("Try 64 next.");

  await page.goto(`/runs/trend?scenario=${scenario}&metric=p95`);
  const drawn = page.getByRole("figure").locator("[data-point]");
  await expect(drawn).toHaveCount(9);
  await page
    .locator("input")
    .and(page.getByLabel("Parameters", { exact: true }))
    .click();
  await page.getByRole("option", { name: /pool=16|pool = 16/ }).click();
  await expect(drawn).toHaveCount(3);
  await expect(page).toHaveURL(/group=/);
});

test("capacity is forecast from runs at several rates, and axe finds nothing", async ({ page, request, watched }) => {
  const scenario = unique("capacity");
  const pool = { job: "app", instance: scenario, db_name: "main" };
  const begin = Math.floor(Date.now() / 1000) * 1000 - 3_600_000;
  for (const [place, rate] of [20, 40, 60, 80, 100].entries()) {
    const startMs = begin + place * 60_000;
    const samples = Array.from({ length: 32 }, (_, second) => startMs + second * 1000).flatMap((timeMs) => [
      {
        labels: { __name__: "go_sql_in_use_connections", ...pool },
        value: rate / 10 + (timeMs % 3000 ? 0 : 0.5),
        timeMs,
      },
      { labels: { __name__: "go_sql_max_open_connections", ...pool }, value: 20, timeMs },
    ]);
    await writeSamples(watched.url, samples);
    await addRun(request, { name: `at ${rate}`, scenario, parameter: `rate=${rate}` }, { startMs, rate });
  }
  await page.goto(`/runs/sweep?scenario=${scenario}`);
  const capacity = page.getByRole("region", { name: "Capacity", exact: true });
  await expect(capacity).toContainText("the first limit is reached: Connection pool");
  await expect(capacity.getByRole("row", { name: /^Connection pool/ })).toContainText("10");
  await expect(capacity.getByRole("figure").locator("[data-point]")).toHaveCount(6);
  await capacity.getByText("Runs that this rests on").click();
  await expect(capacity.getByRole("row", { name: /^at 100/ })).toContainText("100");
  await expectAccessibleInBoth(page);
  await page.setViewportSize({ width: 390, height: 844 });
  await expectWithin(page, 390);
});

test("a trend shows the run from which on it was slower", async ({ page, request }) => {
  const scenario = unique("trend");
  for (let place = 0; place < 12; place += 1) {
    const shape = {
      latencyMs: (place < 6 ? 20 : 40) + (place % 3) / 5,
      startMs: RESULT.startMs + place * 86_400_000,
      seconds: 10,
    };
    await addRun(request, { name: `night ${place}`, scenario, commit: `c${place}` }, shape);
    if (place === 2) {
      await page.goto(`/runs/trend?scenario=${scenario}`);
      await expect(page.getByText(/needs 6 runs with the same parameters; the most here are 3/)).toBeVisible();
    }
  }
  await page.goto(`/runs/trend?scenario=${scenario}&metric=p95`);
  await expect(page.getByRole("figure", { name: /^Response p95/ }).locator("[data-point]")).toHaveCount(12);
  const changes = page.getByRole("region", { name: "Change points" });
  await expect(changes).toContainText("c5 → c6");
  await expect(changes).toContainText("worse");
  await changes.getByRole("link", { name: "Compare the runs before and after" }).click();
  await expect(page.getByRole("list", { name: "What is compared" }).getByRole("list")).toHaveCount(2);
});

test("a meeting steps through the new runs by arrow keys and ends", async ({ page, request }) => {
  await request.post("/api/meetings", { data: { attendees: [] } });
  await page.goto("/runs/meeting");
  await expect(page.getByText("No runs to review")).toBeVisible();

  const scenario = unique("meeting");
  const startMs = Math.floor(Date.now() / 1000) * 1000 - 60_000;
  const thresholds = { threshold: "p95<1ms" };
  const first = await addRun(request, { name: `${scenario}-1`, scenario, ...thresholds }, { startMs: startMs + 1000 });
  // The newest is shown first.
  await addRun(request, { name: `${scenario}-2`, scenario }, { startMs });
  await request.put(`/api/runs/${first}/review`, {
    data: {
      version: 0,
      author: "mika",
      outcome: "The pool was too small.",
      next_action: "Raise it to 40.",
      attendees: ["Ken"],
      actions: [{ id: "disk", text: "Ask for a faster disk.", owner: "ken" }],
    },
  });
  await page.goto("/runs/meeting");
  await expect(page.getByRole("heading", { level: 2, name: `${scenario}-1` })).toBeVisible();
  await expect(page.getByRole("region", { name: "Verdict" })).toContainText("Failed");
  const outcome = page.getByRole("textbox", { name: "Outcome" });
  await expect(outcome).toHaveValue("The pool was too small.");
  // What is typed here is the run's own review, and saves itself.
  await outcome.fill("The pool was too small: 8.");
  await expect(page.getByText(/^Saved/)).toBeVisible();
  await outcome.blur();
  await expect(page.getByRole("region", { name: "Verdict" }).getByRole("listitem").first()).toContainText("not met");
  await page.keyboard.press("ArrowRight");
  await expect(page.getByRole("heading", { level: 2, name: `${scenario}-2` })).toBeVisible();
  await page.keyboard.press("End");
  await expect(page.getByRole("heading", { level: 2, name: "End of the meeting" })).toBeVisible();
  await expect(page.getByRole("row", { name: new RegExp(`${scenario}-1`) })).toContainText("Raise it to 40.");
  await expect(page.getByRole("row", { name: new RegExp(`${scenario}-1`) })).toContainText("Ask for a faster disk.");
  await page.getByRole("combobox", { name: "Attendees" }).or(page.getByLabel("Attendees")).first().fill("Mika");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "End the meeting" }).click();
  await expect(page.getByText("No runs to review")).toBeVisible();
});

test("a meeting about one scenario ends for that one alone", async ({ page, request }) => {
  await request.post("/api/meetings", { data: { attendees: [] } });
  const [checkout, search] = [unique("checkout"), unique("search")];
  const startMs = Math.floor(Date.now() / 1000) * 1000 - 60_000;
  await addRun(request, { name: `${checkout}-1`, scenario: checkout }, { startMs });
  await addRun(request, { name: `${search}-1`, scenario: search }, { startMs: startMs + 1000 });
  await page.goto("/runs/meeting");
  const choice = page.getByRole("combobox", { name: "Scenario" });
  await choice.selectOption(checkout);
  await expect(page.getByText("Run 1 of 1")).toBeVisible();
  await choice.blur();
  await page.keyboard.press("End");
  await expect(page.getByText("1 of others stay for their own meeting")).toBeVisible();
  await page.getByRole("button", { name: "End the meeting" }).click();
  await expect(page.getByRole("heading", { level: 2, name: `${search}-1` })).toBeVisible();
  await expect(page).not.toHaveURL(/scenario=/);
  await request.post("/api/meetings", { data: { attendees: [] } });
});

test("a run under way stays in sight, moves nothing as it begins and ends, and is a band on the charts", async ({
  page,
  request,
}) => {
  const name = unique("soak");
  await page.goto("/");
  const limits = page.getByRole("region", { name: "Headroom" });
  await expect(limits.locator("[data-limit]").first()).toBeVisible();
  await expect(page.getByRole("region", { name: "Last run" })).toContainText(/\w/);
  const before = await limits.boundingBox();
  const facts = { tool: "vegeta", target_rate: 600, target_duration_seconds: 3600, parameters: { pool: "10" } };
  const made = await request.post("/api/runs", { data: { name, scenario: "soak", ...facts } });
  const { id } = (await made.json()) as { id: string };
  // However long this machine takes: what was told long ago would not be shown as of now.
  const progress = { at_ms: Date.now(), elapsed_seconds: 600, requests: 1200, rate: 598, failures: 3 };
  await request.post(`/api/runs/${id}/progress`, { data: progress });
  const line = page.getByRole("list", { name: "Runs under way" }).getByRole("listitem").filter({ hasText: name });
  await expect(line).toContainText("598/s of 600/s");
  await expect(line).toContainText("reached");
  await expect(line).toContainText(/\d:\d\d of 1:00:00/);
  await expect(line).toContainText("soak · pool=10");
  await expect(line).toContainText("0.25%");
  expect(await limits.boundingBox()).toEqual(before);
  await expect(page.locator("figure .lw-band").first()).toBeAttached();
  await page.mouse.wheel(0, 900);
  await expect(limits).not.toBeInViewport();
  await expect(line).toBeInViewport({ ratio: 1 });
  await request.post(`/api/runs/${id}/finish`, { data: { ended_ms: Date.now() } });
  await expect(line).toHaveCount(0);
  await page.mouse.wheel(0, -900);
  await expect(page.getByRole("list", { name: "Last run" })).toContainText(name);
  expect(await limits.boundingBox()).toEqual(before);
});

test("axe finds nothing on comparison, sweep, trend and meeting, in either scheme", async ({ page, request }) => {
  const scenario = unique("axe");
  const startMs = Math.floor(Date.now() / 1000) * 1000 - 120_000;
  const runs: string[] = [];
  for (const pool of ["10", "20", "40"]) {
    const facts = { name: `pool ${pool}`, scenario, parameter: `pool=${pool}`, threshold: "p95<50ms" };
    runs.push(await addRun(request, facts, { latencyMs: 800 / Number(pool), startMs: startMs + Number(pool) * 1000 }));
  }
  await page.goto(`${comparePath(runs)}&detail=1`);
  await expect(page.getByRole("article", { name: "Response p99" }).locator("path.lw-line")).toHaveCount(3);
  await expectAccessibleInBoth(page);
  await page.goto(`/runs/sweep?scenario=${scenario}`);
  await expect(page.locator("[data-point]").first()).toBeAttached();
  await expectAccessibleInBoth(page);
  await page.goto(`/runs/trend?scenario=${scenario}`);
  await expect(page.locator("[data-point]").first()).toBeAttached();
  await expectAccessibleInBoth(page);
  await page.goto(`/runs/meeting?run=${runs[0]}`);
  await expect(page.getByRole("region", { name: "Verdict" })).toBeVisible();
  await expectAccessibleInBoth(page);
  await page.goto("/runs/meeting?run=end");
  await expect(page.getByRole("button", { name: "End the meeting" })).toBeVisible();
  await expectAccessibleInBoth(page);

  await page.setViewportSize({ width: 390, height: 844 });
  for (const path of [comparePath(runs), `/runs/sweep?scenario=${scenario}`, `/runs/meeting?run=${runs[0]}`]) {
    await page.goto(path);
    await expect(page.getByRole("heading", { level: 1 })).toBeAttached();
    await page.waitForLoadState("networkidle").catch(() => undefined);
    await expectWithin(page, 390);
  }
});
