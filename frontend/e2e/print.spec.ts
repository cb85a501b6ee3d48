/** On paper: a run, a comparison and a report. */
import type { Page } from "@playwright/test";
import { expect, expectAccessibleInBoth, test } from "./live-test";
import { addRun } from "./run-fixtures";

const unique = (name: string) => `${name}-${Math.random().toString(36).slice(2, 7)}`;

/** Prints, and answers with how many pixels each chart is wider or narrower than its place as the paper is laid out. */
async function printed(page: Page): Promise<readonly number[]> {
  await page.evaluate(() => {
    const differences: number[] = [];
    Object.assign(window, { differences });
    // Later than the page's own listeners, which draw for the paper.
    window.addEventListener("beforeprint", () => {
      for (const plot of document.querySelectorAll(".lw-plot")) {
        const drawn = plot.querySelector("svg");
        if (drawn !== null) differences.push(Math.abs(drawn.getBoundingClientRect().width - plot.clientWidth));
      }
    });
  });
  const pdf = await page.pdf({ format: "A4" });
  expect(pdf.subarray(0, 5).toString()).toBe("%PDF-");
  expect(pdf.length).toBeGreaterThan(10_000);
  return page.evaluate(() => (window as unknown as { differences: number[] }).differences);
}

/** Names of what is there to press, but for what is read as well: heads of tables and groups, legends, the colours of runs. */
function pressable(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>("button, input, select, textarea, [role=button], [role=tab]")]
      .filter((one) => one.closest("th, summary, h2, h3, .lw-legend, [aria-pressed]") === null)
      .filter((one) => one.checkVisibility({ visibilityProperty: true }) && one.getBoundingClientRect().width > 1)
      .map((one) => (one.getAttribute("aria-label") ?? one.textContent ?? "").slice(0, 60)),
  );
}

test("a run, a comparison and a report are whole on paper", async ({ page, request }) => {
  const scenario = unique("paper");
  const runs = [await addRun(request, { name: `${scenario}-1`, scenario, threshold: "p95<100ms" })];
  runs.push(await addRun(request, { name: `${scenario}-2`, scenario, commit: "bbbb222" }));
  for (const path of [`/runs/${runs[0]}`, `/runs/compare?run=${runs[0]}&run=${runs[1]}`]) {
    await page.emulateMedia({ media: "screen" });
    await page.goto(path);
    await expect(page.getByRole("main").locator("article .lw-line").first()).toBeAttached();
    const differences = await printed(page);
    expect(differences.length, path).toBeGreaterThan(1);
    expect(Math.max(...differences), path).toBeLessThanOrEqual(1);
    await page.emulateMedia({ media: "print" });
    expect(await pressable(page), path).toEqual([]);
  }
  const size = page.viewportSize();
  await page.emulateMedia({ media: "screen" });
  await page.goto(`/api/runs/${runs[1]}/report?format=html`);
  await page.setViewportSize({ width: 390, height: 844 });
  await expectAccessibleInBoth(page);
  if (size !== null) await page.setViewportSize(size);
  await page.goto(`/api/runs/${runs[0]}/report?format=html`);
  await printed(page);
  await page.emulateMedia({ media: "print" });
  expect(await pressable(page)).toEqual([]);
});
