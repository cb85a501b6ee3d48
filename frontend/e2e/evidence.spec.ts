/** Files of a run: brought by button and by dropping, shown by their content, noted, deleted. */
import type { Page } from "@playwright/test";
import { expect, expectAccessibleInBoth, expectWithin, OWN_SERVER, test } from "./live-test";
import { type Sample, writeSamples } from "./remote-write";
import { addRun, RESULT } from "./run-fixtures";
import { type System, start, untilReady } from "./start-system";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const PAGE = "<!doctype html><script>document.title = 'taken over'</script>";

test.use(OWN_SERVER);
test.describe.configure({ mode: "serial" });

let system: System;
let run = "";

test.beforeAll(async ({ playwright }) => {
  system = await start("server", () => ({}), untilReady);
  const request = await playwright.request.newContext({ baseURL: system.url });
  run = await addRun(request, { name: "dirty", scenario: "shop" }, { ...RESULT, startMs: Date.now() - 180_000 });
  const query = new URLSearchParams({
    kind: "patch",
    name: `${run}.patch`,
    facts: JSON.stringify({ files: 2, named: 1, untracked: 0, masked: 0 }),
  });
  const data = "# not sent, may hold secrets: .env\ndiff --git a/pool.go b/pool.go\n+var pool = 30\n";
  expect((await request.post(`/api/runs/${run}/evidence?${query}`, { data })).status()).toBe(201);
  await request.dispose();
});
test.afterAll(() => system.stop());

const files = (page: Page) => page.getByRole("region", { name: "Files", exact: true });

test("files are added, shown by what they are, noted and deleted", async ({ page }) => {
  await page.goto(`${system.url}/runs/${run}`);
  const section = files(page);
  await expect(section.getByText(/change that was not committed · 2 changed files · 1 named only/)).toBeVisible();
  await section.getByRole("button", { name: `Show ${run}.patch` }).click();
  await expect(section.getByText("+var pool = 30")).toBeVisible();

  const [chooser] = await Promise.all([
    page.waitForEvent("filechooser"),
    section.getByRole("button", { name: "Add files" }).press("Enter"),
  ]);
  await chooser.setFiles([
    { name: "グラフ.png", mimeType: "image/png", buffer: Buffer.from(PIXEL, "base64") },
    { name: "page.png", mimeType: "image/png", buffer: Buffer.from(PAGE) },
  ]);
  const picture = section.getByRole("img", { name: "Picture: グラフ.png" });
  await picture.scrollIntoViewIfNeeded();
  await expect.poll(() => picture.evaluate((one: HTMLImageElement) => one.naturalWidth)).toBe(1);
  await expect(section.getByRole("img")).toHaveCount(1);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    section.getByRole("link", { name: "Download page.png" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("page.png");
  await expect(page).not.toHaveTitle("taken over");

  await section.getByRole("button", { name: "Add a note to グラフ.png" }).click();
  await page.getByRole("textbox", { name: "Note", exact: true }).fill("from the balancer");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(section.getByText("from the balancer", { exact: true })).toBeVisible();
  await section.getByRole("button", { name: "Delete page.png" }).click();
  await expectAccessibleInBoth(page, "[role=dialog]");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(section.getByRole("link", { name: "Download page.png" })).toHaveCount(0);
  await expectAccessibleInBoth(page, "#files");
});

test("a share link shows the files that were chosen", async ({ page, playwright }) => {
  const request = await playwright.request.newContext({ baseURL: system.url });
  const shared = await addRun(request, { name: "shared" }, { ...RESULT, startMs: Date.now() - 1_800_000 });
  for (const [name, data, kind] of [
    ["balancer.png", Buffer.from(PIXEL, "base64"), "attachment"],
    ["notes.txt", Buffer.from("pool was 30\n<b>not bold</b>"), "attachment"],
    ["tool.log", Buffer.from("not for everybody"), "output"],
  ] as const) {
    const query = new URLSearchParams({ name, kind });
    expect((await request.post(`/api/runs/${shared}/evidence?${query}`, { data })).status()).toBe(201);
  }
  await page.goto(`${system.url}/runs/${shared}`);
  await page.getByRole("button", { name: "Share" }).click();
  const dialog = page.getByRole("dialog", { name: "Share the report" });
  await dialog.getByRole("checkbox", { name: /^balancer\.png/ }).check();
  await dialog.getByRole("checkbox", { name: /^notes\.txt/ }).check();
  await expect(dialog.getByText("May hold what is not for everybody: look at it first.")).toHaveCount(1);
  await expect(dialog.getByRole("link", { name: "Report with these files" })).toHaveAttribute(
    "href",
    /&files=[0-9a-f]{32}&files=/,
  );
  await dialog.getByRole("button", { name: "Make a link" }).click();
  const link = (await dialog.getByText(/\/share\//).innerText()).trim();
  await expect(dialog.getByText(/^2 files, until /)).toBeVisible();

  const reader = await page.context().newPage();
  await reader.goto(link);
  const picture = reader.getByRole("img", { name: "balancer.png" });
  await picture.scrollIntoViewIfNeeded();
  await expect.poll(() => picture.evaluate((one: HTMLImageElement) => one.naturalWidth)).toBe(1);
  await expect(reader.getByText("<b>not bold</b>")).toBeVisible();
  await expect(reader.getByText("not for everybody")).toHaveCount(0);
  const [download] = await Promise.all([
    reader.waitForEvent("download"),
    reader.getByRole("link", { name: "notes.txt" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("notes.txt");
  await reader.close();
  await dialog.press("Escape");

  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Export the run…" }).click();
  const leaving = page.getByRole("dialog", { name: "Export the run" });
  await leaving.getByRole("checkbox", { name: /^tool\.log/ }).uncheck();
  const archive = leaving.getByRole("link", { name: "Download" });
  await expect(archive).toHaveAttribute("href", /\/archive\?files=[0-9a-f]{32}&files=[0-9a-f]{32}$/);
  await expectAccessibleInBoth(page, "[role=dialog]");
  const [whole] = await Promise.all([page.waitForEvent("download"), archive.click()]);
  expect(whole.suggestedFilename()).toBe(`${shared}.loadwatch.zip`);
  await request.dispose();
});

test("log lines stand by pattern, what is new first", async ({ page, request }) => {
  const { started_ms } = (await (await request.get(`${system.url}/api/runs/${run}`)).json()) as { started_ms: number };
  const series = (name: string, labels: Record<string, string>, points: [number, number][]): Sample[] =>
    points.map(([seconds, value]) => ({
      labels: { __name__: name, job: "shop", instance: "web-1", ...labels },
      value,
      timeMs: started_ms + seconds * 1000,
    }));
  const accept = "accept4: too many open files; retrying in <num>";
  await writeSamples(system.url, [
    ...series("log_lines_total", { result: "counted" }, [
      [-50, 500],
      [15, 584],
    ]),
    ...series("log_messages_total", { pattern_id: "a", level: "error" }, [
      [2, 40],
      [8, 84],
    ]),
    ...series("log_pattern_info", { pattern_id: "a", pattern: accept }, [[8, 1]]),
    ...series("log_messages_total", { pattern_id: "b", level: "info" }, [
      [-50, 100],
      [-20, 130],
      [5, 155],
      [15, 165],
    ]),
    ...series("log_pattern_info", { pattern_id: "b", pattern: "served <url>" }, [[-50, 1]]),
  ]);
  await page.goto(`${system.url}/runs/${run}`);
  const section = page.getByRole("region", { name: "Log", exact: true });
  const first = section.getByRole("row").nth(1);
  await expect(first).toContainText(accept);
  await expect(first).toContainText(/new\s*error\s*84\s*0/);
  await section.scrollIntoViewIfNeeded();
  await expectAccessibleInBoth(page, "#log");
});

test("a file that is dropped is kept; one that goes straight to its address is saved, not shown", async ({ page }) => {
  await page.goto(`${system.url}/runs/${run}`);
  const section = files(page);
  const zone = section.getByRole("list");
  const transfer = await page.evaluateHandle((text) => {
    const data = new DataTransfer();
    data.items.add(new File([text], "../../shown.html", { type: "text/html" }));
    return data;
  }, PAGE);
  await zone.dispatchEvent("dragover", { dataTransfer: transfer });
  await expect(section.getByText("Drop to keep these files with the run")).toBeVisible();
  await zone.dispatchEvent("drop", { dataTransfer: transfer });
  const link = section.getByRole("link", { name: "Download shown.html" });
  await expect(link).toBeVisible();
  const address = (await link.getAttribute("href")) ?? "";
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.goto(`${system.url}${address}`).catch(() => null),
  ]);
  expect(download.suggestedFilename()).toBe("shown.html");
  await page.goto(`${system.url}/runs/${run}`);
  await page.setViewportSize({ width: 390, height: 844 });
  await files(page).scrollIntoViewIfNeeded();
  await expectWithin(page, 390);
});
