/** Why a run was slow: routes and the statements that their requests ask, on a run's page. */
import { expect, expectAccessibleInBoth, expectWithin, OWN_SERVER, test } from "./live-test";
import { type Sample, writeSamples } from "./remote-write";
import { addRun, RESULT } from "./run-fixtures";
import { type System, start, untilReady } from "./start-system";

const N_PLUS_ONE = "SELECT * FROM `users` WHERE `id` = ?";
const PLANS = [
  ["b", '[{"table":"posts","access":"ALL","rows":120000,"extra":"Using filesort"}]', ""],
  ["a", "", "no-example"],
] as const;
/** Requests of a second: the rates of the routes move apart. */
const TIMELINE = (second: number) => 3 + ((second * 7) % 5);
const HEALTH = (second: number) => 20 + ((second * 3) % 11);

test.use(OWN_SERVER);
test.describe.configure({ mode: "serial" });

let system: System;

test.beforeAll(async () => {
  system = await start("server", () => ({}), untilReady);
});
test.afterAll(() => system.stop());

/** Counters of an access log and of a database over the run, and some seconds before and after it. */
function samples(startMs: number): readonly Sample[] {
  const totals = new Map<string, number>();
  const found: Sample[] = [];
  const add = (labels: Readonly<Record<string, string>>, grown: number, timeMs: number) => {
    const key = JSON.stringify(labels);
    const value = (totals.get(key) ?? 0) + grown;
    totals.set(key, value);
    found.push({ labels, value, timeMs });
  };
  for (let second = -10; second <= RESULT.seconds + 10; second += 1) {
    const timeMs = startMs + second * 1000;
    const on = second > 0 && second <= RESULT.seconds ? 1 : 0;
    const [timeline, health] = [TIMELINE(second + 10) * on, HEALTH(second + 10) * on];
    for (const [route, count] of [
      ["/timeline", timeline],
      ["/health", health],
    ] as const) {
      const labels = { job: "nginx", instance: "web", method: "GET", route };
      add({ __name__: "http_requests_total", code: "200", ...labels }, count / 2, timeMs);
      const duration = "http_request_duration_seconds";
      add({ __name__: `${duration}_sum`, ...labels }, count * 0.05, timeMs);
      add({ __name__: `${duration}_count`, ...labels }, count, timeMs);
      for (const [le, share] of [
        ["0.04", 0],
        ["0.06", 1],
        ["+Inf", 1],
      ] as const) {
        add({ __name__: `${duration}_bucket`, le, ...labels }, count * share, timeMs);
      }
      add({ __name__: "http_requests_total", code: "304", ...labels }, count / 2, timeMs);
    }
    for (const [digest, text, calls, seconds] of [
      ["a", N_PLUS_ONE, timeline * 100, 0.0004],
      ["b", "SELECT * FROM `posts` ORDER BY `at` DESC LIMIT ?", timeline, 0.004],
      ["c", "SELECT ?", health, 0.0001],
    ] as const) {
      const labels = { job: "mysql", instance: "db", schema: "shop", digest, digest_text: text };
      const name = "mysql_perf_schema_events_statements";
      add({ __name__: `${name}_total`, ...labels }, calls, timeMs);
      add({ __name__: `${name}_seconds_total`, ...labels }, calls * seconds, timeMs);
      add({ __name__: `${name}_rows_sent_total`, ...labels }, calls, timeMs);
      add({ __name__: `${name}_rows_examined_total`, ...labels }, calls * (digest === "b" ? 5000 : 1), timeMs);
    }
    for (const [digest, plan, reason] of second % 30 === 0 ? PLANS : []) {
      const labels = {
        job: "mysql",
        instance: "db",
        schema: "shop",
        digest,
        plan,
        reason,
        example: "SELECT * FROM posts",
      };
      found.push({ labels: { __name__: "mysql_statement_plan_info", ...labels }, value: 1, timeMs });
    }
  }
  return found;
}

test("a run says which route asked what, and how often", async ({ page, playwright }) => {
  const name = `why-${Math.random().toString(36).slice(2, 7)}`;
  const shape = { ...RESULT, startMs: Math.floor(Date.now() / 1000) * 1000 - 3_600_000 };
  const request = await playwright.request.newContext({ baseURL: system.url });
  await writeSamples(system.url, samples(shape.startMs));
  const id = await addRun(request, { name }, shape);
  await page.goto(`${system.url}/runs/${id}`);

  const section = page.getByRole("region", { name: "Why it was slow" });
  await expect(
    section.getByText(/^GET \/timeline: 101 statements and 44(\.0)? ms of database time a request; 9\d/),
  ).toBeVisible();
  const routes = section.getByRole("table").first();
  const timeline = routes.getByRole("button", { name: "GET /timeline" });
  await expect(timeline).toHaveAttribute("aria-expanded", "true");
  await expect(routes.getByText(N_PLUS_ONE)).toBeVisible();
  await expect(routes.getByText("N+1").first()).toBeVisible();
  await expect(section.getByText("reads much")).toBeVisible();
  const statements = section.getByRole("table", { name: "Statements by time" });
  for (const head of ["Calls a request", "Rows read per row sent", "Asked by"]) {
    await expect(statements.getByRole("columnheader", { name: head })).toBeVisible();
  }
  await expect(statements.getByRole("columnheader", { name: "Temporary tables on disk" })).toHaveCount(0);
  await expect(section.getByText("Figures per request are by the load tool's count of requests.")).toBeVisible();
  const health = routes.getByRole("row", { name: /GET \/health/ });
  await expect(health.getByText(/2xx 50% · 304 50%|304 50% · 2xx 50%/)).toBeVisible();
  await expect(health.getByTitle(/40(\.0)? ms–60(\.0)? ms/).first()).toHaveText(/49(\.0)? ms/);
  await expect(section.getByText(/Percentiles within 22(\.\d)?%/)).toBeVisible();
  const posts = statements.getByRole("row", { name: /from `posts` order by/i });
  await posts.getByText("How the database runs it").click();
  await expect(posts.getByText("≈ 120,000 rows (Using filesort)")).toBeVisible();
  await expect(posts.getByText(/^EXPLAIN of SELECT \* FROM posts, as of /)).toBeVisible();
  const users = statements.getByRole("row", { name: /from `users`/i });
  await users.getByText("How the database runs it").click();
  await expect(users.getByText(/^No plan: the server showed no whole execution/)).toBeVisible();
  await expectAccessibleInBoth(page, "#why");

  // The keyboard closes and opens what a route asks.
  await timeline.focus();
  await page.keyboard.press("Enter");
  await expect(routes.getByText(N_PLUS_ONE)).toBeHidden();
  await page.keyboard.press("Enter");
  await expect(routes.getByText(N_PLUS_ONE)).toBeVisible();

  await page.getByRole("navigation", { name: "Parts of this page" }).getByText("Why").click();
  await expect(section).toBeInViewport();
  await page.setViewportSize({ width: 390, height: 844 });
  await expectWithin(page, 390);
  await request.dispose();
});

test("a run of which nothing was counted says what is missing", async ({ page, playwright }) => {
  const request = await playwright.request.newContext({ baseURL: system.url });
  const startMs = Math.floor(Date.now() / 1000) * 1000 - 7_200_000;
  const fault = { collector: "mysql_statements", instance: "db", job: "mysql", error: "performance_schema is off" };
  const failed = Array.from({ length: 5 }, (_, second) => ({
    labels: { __name__: "collector_error_info", ...fault },
    value: 1,
    timeMs: startMs + second * 1000,
  }));
  await writeSamples(system.url, failed);
  const id = await addRun(request, { name: "without" }, { ...RESULT, startMs });
  await page.goto(`${system.url}/runs/${id}`);
  await expect(page.getByRole("region", { name: "Summary" })).toBeVisible();
  const section = page.getByRole("region", { name: "Why it was slow" });
  await expect(section.getByText(/access_log: \{path: …\}.*mysql_statements: \{\}.*pprof: \{url: …\}/)).toBeVisible();
  await expect(section.getByText(/mysql_statements of db failed .*: performance_schema is off/)).toBeVisible();
  await expect(section.getByRole("table")).toHaveCount(0);

  // Beside a run that has it, the comparison shows the last one's.
  const measured = ((await (await request.get("/api/runs?q=why-")).json()) as { runs: { id: string }[] }).runs[0]?.id;
  await page.goto(`${system.url}/runs/compare?run=${id}&run=${measured}`);
  await expect(page.getByRole("heading", { name: "Why it was slow" })).toBeVisible();
  await expect(page.getByText(N_PLUS_ONE).first()).toBeVisible();
  await request.dispose();
});
