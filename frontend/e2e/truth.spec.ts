/** One truth on a page: headline, cockpit, headroom, title, badge, run page and report say what the server's one object says. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "@playwright/test";
import { expect, OWN_SERVER, test } from "./live-test";
import { ONCE, type Sample, writeSamples } from "./remote-write";
import { type System, start, untilReady } from "./start-system";

const INSTANCES = Array.from({ length: 10 }, (_, index) => `web-${index + 1}`);
const SICK = "web-7";
const LIMIT = 8;
/** How long the page is followed after the last run; five minutes and more where there is time. */
const AFTERWARDS = Number(process.env.LOADWATCH_TRUTH_SECONDS ?? 25);
/** The page asks for the server's object each five seconds, of a machine that may be busy. */
const OLDEST_MS = 20_000;

test.use(OWN_SERVER);

const RULES = `groups:
  - name: pools
    rules:
      - alert: PoolFull
        expr: go_sql_in_use_connections >= ${LIMIT}
        labels: { severity: warning }
`;
/** The names of the regions, by language. */
const REGIONS = {
  en: { headline: "What ran out first", headroom: "Headroom", at: "at " },
  ja: { headline: "最初に尽きたもの", headroom: "余裕", at: "" },
} as const;
type Language = keyof typeof REGIONS;

interface Alert {
  readonly acknowledged: unknown;
  readonly silenced_by: readonly unknown[];
  readonly inhibited_by: readonly unknown[];
  readonly muted: boolean;
}

interface Said {
  readonly kind: string;
  readonly key: string;
  readonly title: Readonly<Record<Language, string>>;
  readonly text: Readonly<Record<Language, string>>;
  readonly from_ms: number | null;
  readonly instance: string;
  readonly resource: string;
}

interface Moment {
  readonly atMs: number;
  readonly run: string;
  readonly said: Said;
  /** How many alerts fire that nobody has seen; else how many fire. */
  readonly alerts: string;
  readonly runs: Readonly<Record<string, { readonly startedMs: number; readonly said: Said | null }>>;
}

let system: System;
let timers: NodeJS.Timeout[] = [];
let waits = 0;
/** Whether the pool of one instance is full. */
let sick = false;
const runs: string[] = [];
let moments: Moment[] = [];

test.beforeAll(async () => {
  const prepare = (home: string) => {
    const file = join(home, "rules.yml");
    writeFileSync(file, RULES);
    return { LOADWATCH_RULES: file, LOADWATCH_DEFAULT_RULES: "false" };
  };
  system = await start("server", prepare, untilReady);
  const now = Math.floor(Date.now() / 1000) * 1000;
  const past = Array.from({ length: 60 }, (_, second) => samplesAt(now - (60 - second) * 1000));
  await writeSamples(system.url, past.flat());
  timers = [
    setInterval(
      () => void writeSamples(system.url, samplesAt(Math.floor(Date.now() / 1000) * 1000)).catch(ignore),
      1000,
    ),
    setInterval(() => void ask().catch(ignore), 1000),
  ];
});
test.afterAll(async () => {
  for (const timer of timers) clearInterval(timer);
  await system.stop();
});

const ignore = () => undefined;

/** Ten pools, and a host whose CPU is full all the time and harms nobody. */
function samplesAt(timeMs: number): Sample[] {
  const sample = (__name__: string, value: number, labels: Readonly<Record<string, string>>): Sample => ({
    labels: { __name__, ...labels },
    timeMs,
    value,
  });
  if (sick) waits += 40;
  const second = (timeMs / 1000) % 1e6;
  return [
    ...INSTANCES.flatMap((instance) => {
      const pool = { job: "shop", instance, db_name: "orders" };
      const full = sick && instance === SICK;
      return [
        sample("go_sql_in_use_connections", full ? LIMIT : 2, pool),
        sample("go_sql_idle_connections", full ? 0 : LIMIT - 2, pool),
        sample("go_sql_open_connections", LIMIT, pool),
        sample("go_sql_max_open_connections", LIMIT, pool),
        sample("go_sql_wait_count_total", instance === SICK ? waits : 0, pool),
        sample("go_sql_wait_duration_seconds_total", instance === SICK ? waits / 10 : 0, pool),
      ];
    }),
    ...["0", "1"].flatMap((cpu) =>
      ["user", "idle"].map((mode) =>
        sample("node_cpu_seconds_total", mode === "user" ? second : 0, { job: "host", instance: "vm", cpu, mode }),
      ),
    ),
  ];
}

async function get(path: string): Promise<unknown> {
  const answer = await fetch(`${system.url}${path}`, ONCE);
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}

/** Notes what the server says now. */
async function ask(): Promise<void> {
  const document = async (run: string) => {
    const one = (await get(`/api/runs/${run}`)) as { started_ms: number; diagnosis: { headline: Said } | null };
    return [run, { startedMs: one.started_ms, said: one.diagnosis?.headline ?? null }] as const;
  };
  const [found, firing, ...documents] = await Promise.all([
    get("/api/findings") as Promise<{ run: string; headline: Said }>,
    get("/api/alerts?state=firing&sparklines=false") as Promise<{ alerts: Alert[] }>,
    ...runs.map(document),
  ]);
  const quiet = (one: Alert) => one.muted || one.silenced_by.length + one.inhibited_by.length > 0;
  const loud = firing.alerts.filter((one) => one.acknowledged === null && !quiet(one));
  const alerts = String(loud.length || firing.alerts.length || "");
  const { run, headline } = found;
  moments.push({ atMs: Date.now(), run, said: headline, alerts, runs: Object.fromEntries(documents) });
}

async function begin(name: string): Promise<void> {
  const body = JSON.stringify({ name, tool: "hey" });
  const headers = { ...ONCE.headers, "Content-Type": "application/json" };
  const run = (await (await fetch(`${system.url}/api/runs`, { method: "POST", headers, body })).json()) as {
    id: string;
  };
  runs.push(run.id);
}

async function end(): Promise<void> {
  const headers = { ...ONCE.headers, "Content-Type": "application/json" };
  const body = JSON.stringify({ ended_ms: Date.now(), exit_code: 0 });
  await fetch(`${system.url}/api/runs/${runs.at(-1)}/finish`, { method: "POST", headers, body });
}

interface Drawn {
  readonly headline: string;
  readonly mark: string;
  readonly title: string;
  readonly badge: string;
  readonly run: string;
  readonly cockpit: string;
  readonly hero: string;
  readonly exhausted: readonly string[];
}

/** All of it at one instant. */
function drawnOn(page: Page, language: Language = "en"): Promise<Drawn> {
  return page.evaluate((names) => {
    const text = (selector: string) => document.querySelector(selector)?.textContent ?? "";
    const bar = `section[aria-label='${names.headline}'] [data-tone]`;
    const limits = [...document.querySelectorAll<HTMLElement>(`[aria-label='${names.headroom}'] [data-limit]`)];
    return {
      headline: document.querySelector(`${bar} > p`)?.firstChild?.textContent ?? "",
      mark: text(`${bar} > span`),
      title: document.title,
      badge: text("header [data-loud] [aria-hidden]"),
      run: document.querySelector<HTMLElement>("li[data-run]")?.dataset.run ?? "",
      cockpit: text("li[data-run] [data-wide='true'] dd"),
      hero: limits[0]?.dataset.limit ?? "",
      exhausted: limits
        .filter(({ dataset }) => dataset.state === "exhausted")
        .map(({ dataset }) => dataset.limit ?? ""),
    };
  }, REGIONS[language]);
}

/** Whether all that is drawn is what the server said at one moment. */
function agrees(drawn: Drawn, { run, said, runs: documents }: Moment, language: Language): boolean {
  const found = said.kind === "found";
  const own = documents[drawn.run];
  const cockpit = drawn.run === run && (said.from_ms ?? 0) >= (own?.startedMs ?? 0) ? said : own?.said;
  const elapsed = Math.max(0, Math.round(((cockpit?.from_ms ?? 0) - (own?.startedMs ?? 0)) / 1000));
  const clock = `${Math.floor(elapsed / 60)}:${String(elapsed % 60).padStart(2, "0")}`;
  const at = cockpit?.from_ms == null ? "" : `${REGIONS[language].at}${clock}`;
  return (
    drawn.headline === said.text[language] &&
    (found ? drawn.title.includes(said.title[language]) : drawn.mark.includes(said.title[language])) &&
    (drawn.run === "" || own === undefined || drawn.cockpit === `${cockpit?.title[language] ?? "–"}${at}`) &&
    (!found || said.resource === "" || drawn.hero === said.resource) &&
    (found || drawn.exhausted.length === 0)
  );
}

/** Compares each second. */
async function follow(page: Page, seconds: number, language: Language = "en"): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    await expect(async () => {
      const drawn = await drawnOn(page, language);
      moments = moments.filter(({ atMs }) => Date.now() - atMs < OLDEST_MS);
      expect(
        // The alerts are asked for by themselves.
        moments.some((one) => agrees(drawn, one, language)) && moments.some(({ alerts }) => alerts === drawn.badge),
        JSON.stringify({ drawn, moments: moments.slice(-2) }),
      ).toBe(true);
      // A redraw may fall between two answers; a contradiction stays.
    }).toPass({ timeout: 30_000, intervals: [250] });
    await page.waitForTimeout(1000);
  }
}

interface Shift {
  readonly value: number;
  readonly of: readonly string[];
}

/** What moved on the page without anybody's doing, and what it was. */
function noteShifts(): void {
  const shifts: Shift[] = [];
  Object.assign(globalThis, { shifts });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as unknown as (Shift & {
      readonly hadRecentInput: boolean;
      readonly sources: readonly { readonly node: Element | null }[];
    })[]) {
      const names = entry.sources.map(({ node }) => node?.closest?.("[class]")?.className ?? String(node?.nodeName));
      if (!entry.hadRecentInput) shifts.push({ value: entry.value, of: names });
    }
  }).observe({ type: "layout-shift", buffered: true });
}

async function expectStill(page: Page): Promise<void> {
  const shifts = await page.evaluate(() => (globalThis as unknown as { shifts: Shift[] }).shifts);
  const sum = shifts.reduce((total, { value }) => total + value, 0);
  const largest = shifts.toSorted((a, b) => b.value - a.value).slice(0, 8);
  expect(sum, JSON.stringify({ count: shifts.length, largest })).toBeLessThan(0.05);
}

test.describe.configure({ mode: "serial" });

async function openLive(page: Page, language: Language = "en"): Promise<void> {
  await page.addInitScript(noteShifts);
  await page.goto(`${system.url}/?tz=utc`);
  await expect(page.getByRole("region", { name: REGIONS[language].headline })).toBeVisible();
  await expect.poll(async () => (await drawnOn(page, language)).hero).not.toBe("");
}

async function followInJapanese(browser: Browser, seconds: number): Promise<void> {
  const context = await browser.newContext({ locale: "ja-JP" });
  const page = await context.newPage();
  await openLive(page, "ja");
  await follow(page, seconds, "ja");
  await context.close();
}

test("over two runs all that the live page says first is what the server says", async ({ page, browser }) => {
  await openLive(page);
  await follow(page, 3);
  await begin("the pool of one instance runs out");
  await follow(page, 3);
  sick = true;
  await follow(page, 12);
  await expect.poll(() => moments.at(-1)?.said).toMatchObject({ kind: "found", instance: SICK });
  await expect.poll(async () => (await drawnOn(page)).headline).toContain(SICK);
  await followInJapanese(browser, 2);
  await expect.poll(() => moments.at(-1)?.alerts).toBe("1");
  await expect.poll(async () => (await drawnOn(page)).badge).toBe("1");
  sick = false;
  await end();
  await follow(page, 5);
  await begin("nothing suffers");
  await follow(page, 8);
  await expect.poll(() => moments.at(-1)?.said.kind).not.toBe("found");
  await end();
  await expectStill(page);
});

test("run pages and reports say the same", async ({ page }) => {
  for (const run of runs) {
    await page.goto(`${system.url}/runs/${run}?tz=utc`);
    // A run that has just ended is judged again until its last samples are in; page and report follow.
    await expect(async () => {
      const { diagnosis } = (await get(`/api/runs/${run}`)) as { diagnosis: { headline: Said } };
      const text = diagnosis.headline.text.en;
      await expect(page.getByRole("main").getByText(text, { exact: true }).first()).toBeVisible({ timeout: 1000 });
      const report = await fetch(`${system.url}/api/runs/${run}/report?format=json`, ONCE);
      expect(await report.text()).toContain(JSON.stringify(text).slice(1, -1));
    }).toPass({ timeout: 180_000 });
  }
});

test("limits stay while the server is away, and all agrees after its restart", async ({ page }) => {
  await openLive(page);
  await system.halt();
  await expect(page.getByText("The server does not answer").first()).toBeVisible();
  const limits = page.locator("section[aria-label='Headroom']");
  const before = await limits.boundingBox();
  await page.waitForTimeout(5000);
  expect(await limits.boundingBox()).toEqual(before);
  await system.resume();
  await expect(page.getByText("The server does not answer")).toHaveCount(0);
  await expect.poll(() => moments.some(({ atMs }) => Date.now() - atMs < 3000)).toBe(true);
  await follow(page, AFTERWARDS);
});
