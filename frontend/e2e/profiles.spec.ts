/** Profiles of a run: brought to its page, read as functions and flame graph, held against the baseline. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { APIRequestContext, Page } from "@playwright/test";
import { expect, expectAccessibleInBoth, expectWithin, OWN_SERVER, test } from "./live-test";
import { writeSamples } from "./remote-write";
import { addRun, RESULT } from "./run-fixtures";
import { type System, start, untilReady } from "./start-system";

const FIXTURES = fileURLToPath(new URL("../../backend/tests/evidence/profiles/fixtures/", import.meta.url));

test.use(OWN_SERVER);
test.describe.configure({ mode: "serial" });

let system: System;
let run = "";

/** A profile that an agent would have taken: an evidence file with the facts that it comes with. */
async function keep(
  request: APIRequestContext,
  id: string,
  file: string,
  kind: string,
  atMs: number,
  instance = "web-1",
) {
  const facts = { kind, job: "shop", instance, seconds: 10, cause: "run", asked_by: "" };
  const query = {
    kind: "profile",
    name: `${kind}-${instance}.pb.gz`,
    at_ms: String(atMs),
    facts: JSON.stringify(facts),
  };
  const data = readFileSync(`${FIXTURES}${file}`);
  const headers = { "Content-Type": "application/octet-stream" };
  const answer = await request.post(`/api/runs/${id}/evidence?${new URLSearchParams(query)}`, { data, headers });
  expect(answer.status(), await answer.text()).toBe(201);
}

test.beforeAll(async ({ playwright }) => {
  system = await start("server", () => ({}), untilReady);
  const request = await playwright.request.newContext({ baseURL: system.url });
  const facts = { scenario: "shop" };
  const before = { ...RESULT, startMs: RESULT.startMs - 3_600_000 };
  const long = { ...RESULT, startMs: RESULT.startMs - 7_200_000 };
  const older = await addRun(request, { name: "older", ...facts }, long);
  await keep(request, older, "go/00-cpu-base.pb.gz", "cpu", long.startMs + 20_000, "older");
  await addRun(request, { name: "without", ...facts }, { ...RESULT, startMs: RESULT.startMs - 9_000_000 });
  const base = await addRun(request, { name: "before", ...facts }, before);
  run = await addRun(request, { name: "after", ...facts });
  for (const [kind, file] of [
    ["cpu", "00-cpu"],
    ["block", "04-block"],
    ["heap", "01-heap"],
  ] as const) {
    await keep(request, base, `go/${file}-base.pb.gz`, kind, before.startMs + 20_000);
    await keep(request, run, `go/${file}-now.pb.gz`, kind, RESULT.startMs + 20_000);
  }
  await keep(request, run, "go/00-cpu-base.pb.gz", "cpu", RESULT.startMs + 20_000, "web-2");
  await request.dispose();
});
test.afterAll(() => system.stop());

const open = (page: Page, query: string) => page.goto(`${system.url}/runs/${run}/profiles?${query}`);

test("a run's page lists its profiles, and takes a file that is dropped there", async ({ page }) => {
  await page.goto(`${system.url}/runs/${run}`);
  const section = page.getByRole("region", { name: "Profiles" });
  await expect(section.getByRole("row").filter({ hasText: "2 processes" })).toContainText("0:20 into the run");
  await expect(section.getByRole("link", { name: "CPU" })).toHaveCount(3);
  const transfer = await page.evaluateHandle(
    ({ name, text }) => {
      const data = new DataTransfer();
      data.items.add(new File([text], name));
      return data;
    },
    { name: "app.collapsed", text: readFileSync(`${FIXTURES}py-spy/app.collapsed`, "utf8") },
  );
  const zone = section.getByRole("table");
  await zone.dispatchEvent("dragover", { dataTransfer: transfer });
  await expect(section.getByText("Drop to keep these profiles with the run")).toBeVisible();
  await zone.dispatchEvent("drop", { dataTransfer: transfer });
  await expect(section.getByText("app.collapsed")).toBeVisible();
  await expect(section.getByText("added by hand")).toBeVisible();
  await section.scrollIntoViewIfNeeded();
  await expectAccessibleInBoth(page, "#profiles");

  const junk = await page.evaluateHandle(() => {
    const data = new DataTransfer();
    data.items.add(new File(["<html>"], "page.html"));
    return data;
  });
  await zone.dispatchEvent("drop", { dataTransfer: junk });
  await expect(section.getByRole("alert")).toContainText("a page of HTML");
});

test("the flame graph is walked by keys and searched, and the table says the same", async ({ page }) => {
  await open(page, "kind=cpu&of=all");
  const flame = page.getByRole("application", { name: /^Flame graph of CPU/ });
  await expect(flame).toBeVisible();
  await expect.poll(() => painted(page)).toBeGreaterThan(3);
  const told = page.locator(".lw-flame-spoken");
  await flame.focus();
  await page.keyboard.press("Home");
  await expect(told).toHaveText(/^all: .* \(100%\)/);
  await page.keyboard.press("ArrowDown");
  const first = await told.innerText();
  expect(first).not.toMatch(/^all:/);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("button", { name: "Show the whole again" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("button", { name: "Show the whole again" })).toHaveCount(0);

  await page.getByLabel("Search functions").fill("runtime");
  await expect(page.locator(".lw-flame-foot").getByRole("status")).toHaveText(/^[\d.]+% in \d+ boxes that match/);
  const table = page.getByRole("region", { name: "Functions", exact: true }).getByRole("table");
  for (const name of await table.locator("tbody th").allInnerTexts()) expect(name).toContain("runtime");
  await page.getByLabel("Search functions").fill("");
  await table.getByRole("button", { name: "With what it calls" }).click();
  await expect(table.locator("tbody tr").first()).toContainText("main.work.func1");
  await expectAccessibleInBoth(page, "main");
  await page.setViewportSize({ width: 390, height: 844 });
  await expectWithin(page, 390);
});

test("a difference is for each request, with its sign, and the original is one click away", async ({ page }) => {
  await open(page, "kind=block");
  await page.getByLabel("Held against").selectOption("before (baseline)");
  await expect(page.getByText("per request (400 requests here, 400 in the other run)")).toBeVisible();
  await expect(page).toHaveURL(/against=base/);
  const table = page.getByRole("region", { name: "Functions", exact: true }).getByRole("table");
  await expect(table.locator("tbody tr").first()).toContainText(/[+−]/);
  await expect(page.getByRole("region", { name: "New and gone stacks" })).toBeVisible();
  await expectAccessibleInBoth(page, "main");
  const originals = page.getByRole("region", { name: "The original file" });
  await expect(originals.getByText(/^go tool pprof .*-diff_base/)).toBeVisible();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    originals.getByRole("link", { name: "Download block-web-1.pb.gz" }).first().click(),
  ]);
  expect(download.suggestedFilename()).toBe("block-web-1.pb.gz");

  await page.getByLabel("Kind").selectOption("heap");
  await expect(page.getByText(/this is a level and belongs to no request/)).toBeVisible();
  await page.setViewportSize({ width: 390, height: 844 });
  await expectWithin(page, 390);
});

test("any other run of the scenario that keeps profiles can stand beside", async ({ page }) => {
  await open(page, "kind=cpu");
  const against = page.getByLabel("Held against");
  await expect(against.locator("option")).toHaveText([
    "nothing: this run alone",
    "before (baseline)",
    /^older, .* UTC$|^older, /,
  ]);
  await against.selectOption({ index: 2 });
  await expect(page.getByText(/in the other run\)/)).toBeVisible();
  await expect(page).toHaveURL(/against=\d{8}-/);
  const originals = page.getByRole("region", { name: "The original file" });
  await expect(originals.getByRole("link", { name: "Download cpu-older.pb.gz" })).toBeVisible();
  await page.getByLabel("Kind").selectOption({ label: "Block" });
  await expect(page.getByText("older has no profile of this kind")).toBeVisible();
  await page.reload();
  await expect(against.locator("option:checked")).toHaveText(/^older/);
  await expectAccessibleInBoth(page, "main");
});

test("in Japanese, and where there is nothing", async ({ page, playwright }) => {
  const request = await playwright.request.newContext({ baseURL: system.url });
  const bare = await addRun(request, { name: "bare" });
  await request.dispose();
  await page.goto(`${system.url}/runs/${bare}/profiles`);
  await expect(page.getByText("No profiles of this run")).toBeVisible();
  await page.addInitScript(() => localStorage.setItem("loadwatch.language", "ja"));
  await open(page, "kind=block");
  await expect(page.getByRole("heading", { name: "フレームグラフ" })).toBeVisible();
});

/** How many colours are on the canvas. */
function painted(page: Page): Promise<number> {
  return page.locator(".lw-flame-canvas").evaluate((element) => {
    const canvas = element as HTMLCanvasElement;
    const { data } = canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height) ?? { data: [] };
    const seen = new Set<number>();
    for (let at = 0; at + 2 < data.length; at += 4 * 997) {
      seen.add(((data[at] ?? 0) << 16) | ((data[at + 1] ?? 0) << 8) | (data[at + 2] ?? 0));
    }
    return seen.size;
  });
}

test("while a run is under way profiles are a click away, and what became of them is said", async ({ page }) => {
  const now = Date.now();
  const labels = { __name__: "profile_source_info", job: "shop", instance: "web-1", kinds: "cpu,heap", seconds: "10" };
  await writeSamples(system.url, [{ labels, value: 1, timeMs: now }]);
  const made = await page.request.post(`${system.url}/api/runs`, { data: { name: "under way", clock_ms: now } });
  const { id } = (await made.json()) as { id: string };
  await page.goto(system.url);
  const button = page.getByRole("button", { name: "Take a CPU profile of this run's processes" });
  await button.click();
  await expect(button).toBeDisabled();
  await page.goto(`${system.url}/runs/${id}`);
  const section = page.getByRole("region", { name: "Profiles" });
  // The first of them: where the page comes late, the server has ordered the run's own profiles meanwhile.
  await expect(section.getByText("CPU of shop web-1").first()).toBeVisible();
  await expect(section.getByText("waits for its turn").first()).toBeVisible();
  // At once: an order that no agent takes within a minute is given up.
  const open = await page.request.get(`${system.url}/api/profiles/orders?job=shop`);
  const [order] = ((await open.json()) as { orders: { id: number }[] }).orders;
  await page.request.post(`${system.url}/api/profiles/orders/${order?.id}/begin`);
  const reason = "GET http://127.0.0.1:6060/debug/pprof: answered 403";
  await page.request.post(`${system.url}/api/profiles/orders/${order?.id}/failure`, { data: { reason } });
  await expect(section.getByText(`could not be taken: ${reason}`)).toBeVisible();
  await section.getByLabel("Kind of profile to take").selectOption({ label: "Heap" });
  await section.getByRole("button", { name: "Take a profile" }).click();
  await expect(section.getByText("Heap of shop web-1").first()).toBeVisible();
  await expectAccessibleInBoth(page, "#profiles");
});
