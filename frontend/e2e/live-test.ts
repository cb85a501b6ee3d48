/** What every browser test needs: a running system, and a page that must stay free of errors. */
import { test as base, expect, type Locator, type Page } from "@playwright/test";
import axe from "axe-core";
import { START_MS, type System, startSystem } from "./start-system";

export const test = base.extend<{ quietConsole: undefined }, { watched: System }>({
  // A server with an agent for all tests of a worker; files with a server of their own say so with `OWN_SERVER`.
  watched: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the parameter's shape and wants a pattern
    async ({}, use) => {
      const system = await startSystem();
      await use(system);
      await system.stop();
    },
    { scope: "worker", timeout: 2 * START_MS },
  ],
  baseURL: ({ watched }, use) => use(watched.url),
  quietConsole: [
    async ({ page }, use) => {
      const faults: string[] = [];
      page.on("pageerror", (error) => faults.push(error.message));
      page.on("console", (message) => {
        // A server that is away answers for no file either.
        if (message.type() === "error" && !/^Failed to load resource|Unable to preload CSS/.test(message.text()))
          faults.push(message.text());
      });
      await use(undefined);
      expect(faults, "errors in the browser's console").toEqual([]);
    },
    { auto: true },
  ],
});

/** For `test.use`: addresses are full ones, and no other system is started for them. */
export const OWN_SERVER = { baseURL: "" } as const;

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

/** Those of axe's that look at colours and are on by themselves. */
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];

/** Fails on any violation that axe finds, in the whole page or in one part of it, and that stays: what fades in is pale. */
export async function expectAccessible(page: Page, part = "html", rules?: string[]): Promise<void> {
  await expect(page.locator(part).first()).toBeVisible();
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe.source);
  await expect(async () => expect(await page.evaluate(violations, { part, rules })).toEqual([])).toPass({
    timeout: 90_000,
  });
}

/** The same in both colour schemes; what stands in the page is the same in the second one, only colours differ. */
export async function expectAccessibleInBoth(page: Page, part?: string): Promise<void> {
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  await expectAccessible(page, part);
  await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
  await expectAccessible(page, part, COLOUR_RULES);
}

/** Runs in the page, once and without the details of what is right: on the page of charts they take most of the time. */
async function violations({ part, rules }: { part: string; rules: string[] | undefined }): Promise<string[]> {
  const { axe } = window as unknown as { axe: typeof import("axe-core") };
  const found = await axe.run(
    { include: [part] },
    {
      resultTypes: ["violations"],
      ...(rules === undefined ? {} : { runOnly: { type: "rule", values: rules } as const }),
    },
  );
  return found.violations.flatMap((violation) =>
    violation.nodes.map((node) => `${violation.id}: ${node.html.slice(0, 160)} (${node.failureSummary ?? ""})`),
  );
}

/** Nothing lies beyond the screen's right edge, once the page stands. */
export async function expectWithin(page: Page, width: number, what?: string): Promise<void> {
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth), what).toBeLessThanOrEqual(width);
}

export { expect };
