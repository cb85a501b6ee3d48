/** What every browser test needs: the running system's address, and a page that must stay free of errors. */
import { AxeBuilder } from "@axe-core/playwright";
import { test as base, expect, type Locator, type Page } from "@playwright/test";

export const test = base.extend<{ quietConsole: undefined }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the parameter's shape and wants a pattern
  baseURL: async ({}, use) => {
    const url = process.env.LOADWATCH_URL;
    if (url === undefined) throw new Error("start-system.ts has not run");
    await use(url);
  },
  quietConsole: [
    async ({ page }, use) => {
      const faults: string[] = [];
      page.on("pageerror", (error) => faults.push(error.message));
      page.on("console", (message) => {
        if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
          faults.push(message.text());
      });
      await use(undefined);
      expect(faults, "errors in the browser's console").toEqual([]);
    },
    { auto: true },
  ],
});

/** A chart that always has data when an agent watches this host. */
export function memoryPanel(page: Page): Locator {
  return page.locator("#panel-memory");
}

/** Brings the chart into view and waits until lines are drawn. */
export async function openChart(page: Page, path = "/"): Promise<Locator> {
  await page.goto(path);
  const panel = memoryPanel(page);
  await expect(page.getByRole("button", { name: /Fold|折りたたむ/ }).first()).toBeVisible();
  await page.goto(`${path}#panel-memory`);
  await expect(panel.locator(".lw-line").first()).toBeAttached();
  await expect.poll(() => drawnPath(panel)).not.toBe("");
  return panel;
}

/** What the chart's first line looks like; empty before anything is drawn. */
export async function drawnPath(panel: Locator): Promise<string> {
  return (await panel.locator("path.lw-line").first().getAttribute("d")) ?? "";
}

/** Fails on any violation that axe finds, in the whole page or in one part of it, and that stays: what fades in is pale. */
export async function expectAccessible(page: Page, part = "html"): Promise<void> {
  await expect(page.locator(part).first()).toBeVisible();
  await expect(async () => {
    const found = await new AxeBuilder({ page }).include(part).analyze();
    const lines = found.violations.flatMap((violation) =>
      violation.nodes.map((node) => `${violation.id}: ${node.html.slice(0, 160)} (${node.failureSummary ?? ""})`),
    );
    expect(lines).toEqual([]);
  }).toPass({ timeout: 20_000 });
}

/** Nothing lies beyond the screen's right edge, once the page stands. */
export async function expectWithin(page: Page, width: number, what?: string): Promise<void> {
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth), what).toBeLessThanOrEqual(width);
}

export { expect };
