/** On paper: a run, a comparison and a report. */
import type { Page } from "@playwright/test";
import { expect, expectAccessibleInBoth, test } from "./live-test";
import { addRun } from "./run-fixtures";

const unique = (name: string) => `${name}-${Math.random().toString(36).slice(2, 7)}`;

/** What A4 has between margins of a centimetre. */
const PAPER = 718;

/** Prints, and answers with the widths in pixels that charts are drawn for and that the paper has for each; stays on paper. */
async function printed(page: Page): Promise<(readonly [drawn: number, place: number])[]> {
  const pdf = await page.pdf({ format: "A4" });
  expect(pdf.subarray(0, 5).toString()).toBe("%PDF-");
  expect(pdf.length).toBeGreaterThan(10_000);
  // As a browser does it: the page draws for the paper while it is on the screen, and is then laid out without scripts.
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  const drawn = await page
    .locator(".lw-plot:has(svg)")
    .evaluateAll((plots) => plots.map((plot) => Number(plot.querySelector("svg")?.getAttribute("width"))));
  await page.setViewportSize({ width: PAPER, height: 1043 });
  await page.emulateMedia({ media: "print" });
  const places = await page.locator(".lw-plot:has(svg)").evaluateAll((plots) => plots.map((plot) => plot.clientWidth));
  expect(places).toHaveLength(drawn.length);
  return drawn.map((width, place) => [width, places[place] ?? 0]);
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
  const size = page.viewportSize();
  for (const path of [`/runs/${runs[0]}`, `/runs/compare?run=${runs[0]}&run=${runs[1]}`]) {
    await page.emulateMedia({ media: "screen" });
    if (size !== null) await page.setViewportSize(size);
    await page.goto(path);
    await expect(page.getByRole("main").locator("article .lw-line").first()).toBeAttached();
    const widths = await printed(page);
    expect(widths.length, path).toBeGreaterThan(1);
    for (const [drawn, place] of widths) expect(Math.abs(drawn - place), path).toBeLessThanOrEqual(1);
    // Room below the last part would take a sheet of its own.
    const below = await page.getByRole("main").evaluate((main) => getComputedStyle(main).paddingBottom);
    expect(below, path).toBe("0px");
    expect(await pressable(page), path).toEqual([]);
  }
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
