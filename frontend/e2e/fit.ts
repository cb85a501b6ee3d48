/** Whether a page fits its screen: what is stuck to an edge, what lies behind it, what is cut, how large letters are. */
import type { Locator, Page } from "@playwright/test";
import { expect } from "./live-test";

/** Lower edge, in pixels, of all that is stuck to the upper edge of the screen now, and the height of what is at the lower one. */
export function stuck(page: Page): Promise<{ readonly top: number; readonly bottom: number }> {
  return page.evaluate(() => {
    const found = { top: 0, bottom: 0 };
    for (const one of document.querySelectorAll<HTMLElement>("body *")) {
      const { position, top, bottom } = getComputedStyle(one);
      if (position !== "sticky" && position !== "fixed") continue;
      const box = one.getBoundingClientRect();
      // Of a table or a box that scrolls on its own.
      if (box.width < innerWidth / 2 || box.height === 0 || one.closest("table, [role=dialog]") !== null) continue;
      if (top !== "auto" && box.top <= Number.parseFloat(top) + 1) found.top = Math.max(found.top, box.bottom);
      else if (bottom !== "auto" && box.bottom >= innerHeight - Number.parseFloat(bottom) - 1)
        found.bottom = Math.max(found.bottom, innerHeight - box.top);
    }
    return found;
  });
}

/** Walks back by Shift+Tab; nothing that gets the focus may lie behind what is stuck to the upper edge. */
export async function expectClearFocus(page: Page, steps: number): Promise<void> {
  const hidden: string[] = [];
  for (let step = 0; step < steps; step += 1) {
    await page.keyboard.press("Shift+Tab");
    const { top } = await stuck(page);
    const covered = await page.evaluate((edge) => {
      const at = document.activeElement;
      if (at === null || at === document.body) return "";
      for (let one: Element | null = at; one !== null; one = one.parentElement)
        if (["sticky", "fixed"].includes(getComputedStyle(one).position)) return "";
      const box = at.getBoundingClientRect();
      // What is out of sight for the eye is never behind anything.
      if (box.width <= 1 || box.top >= edge - 1) return "";
      return `${at.outerHTML.slice(0, 120)} at ${box.top}, below ${edge}`;
    }, top);
    if (covered !== "") hidden.push(covered);
  }
  expect(hidden).toEqual([]);
}

/** Nothing beyond the right edge, and what is stuck takes at most 40 % of the height, wherever one scrolls. */
export async function expectRoom(page: Page, width: number, height: number, what: string): Promise<void> {
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth), what).toBeLessThanOrEqual(width);
  for (const share of [0, 0.5, 1]) {
    await page.evaluate((to) => scrollTo(0, to * (document.documentElement.scrollHeight - innerHeight)), share);
    const { top, bottom } = await stuck(page);
    expect(top + bottom, `${what}: stuck at ${share}`).toBeLessThanOrEqual(0.4 * height);
  }
}

/** Parts of `box` whose text is cut at its lower edge or that lie beyond its right edge; an ellipsis is no cut. */
export function clipped(box: Locator): Promise<string[]> {
  return box.evaluate((root) => {
    const frame = root.getBoundingClientRect();
    return [...root.querySelectorAll<HTMLElement>("*")]
      .filter((one) => one.children.length === 0 && (one.textContent ?? "").trim() !== "" && one.clientHeight > 1)
      .filter((one) => {
        const inner = one.getBoundingClientRect();
        return inner.bottom > frame.bottom + 1 || inner.top < frame.top - 1 || inner.right > frame.right + 1;
      })
      .map((one) => one.textContent ?? "");
  });
}

/** Sizes of all letters that are shown, in pixels, with one text of each. */
export function letterSizes(page: Page): Promise<Record<string, string>> {
  return page.evaluate(() => {
    const found: Record<string, string> = {};
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const parent = node.parentElement;
      const text = (node.textContent ?? "").trim();
      if (parent === null || text === "" || parent.closest("script, style, noscript") !== null) continue;
      if (!parent.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
      if (parent.closest(".lw-visually-hidden") !== null || parent.getBoundingClientRect().width <= 1) continue;
      found[Number.parseFloat(getComputedStyle(parent).fontSize)] ??= `${text.slice(0, 40)} in ${parent.className}`;
    }
    return found;
  });
}
