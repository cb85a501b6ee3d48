import type { Page } from "@playwright/test";
import { expect, expectAccessibleInBoth, expectWithin, test } from "./live-test";
import { addRun, openRun, RESULT } from "./run-fixtures";

const unique = (name: string) => `${name}-${Math.random().toString(36).slice(2, 7)}`;
const review = (page: Page) => page.getByRole("region", { name: "Review", exact: true });
const saved = (page: Page) => expect(review(page).getByText(/^Saved/)).toBeVisible();

/** Types an action into the review that stands on the page. */
async function addAction(page: Page, place: number, text: string, expected: string): Promise<void> {
  await page.getByRole("button", { name: "Add an action" }).click();
  await page.getByRole("textbox", { name: `Action ${place}`, exact: true }).fill(text);
  await page.getByLabel(`Action ${place}: Expected effect`).fill(expected);
}

test("an action is typed, and the next run of the scenario is measured by it", async ({ page }) => {
  const scenario = unique("scored");
  const first = await openRun(page, { name: `${scenario} one`, scenario });
  await addAction(page, 1, "answer from the cache", "p95<20ms");
  await page.getByRole("textbox", { name: "Action 1: Owner" }).fill("mika");
  await page.getByLabel("Action 1: Due").fill("2020-01-31");
  await addAction(page, 2, "write fewer rows", "error_rate<0.1%");
  await addAction(page, 3, "half typed", "p95<");
  await saved(page);
  await expect(
    review(page).getByText(/^In this run: .* The next run of the scenario is measured by it\.$/),
  ).toHaveCount(2);
  await expect(
    review(page)
      .getByText(/column 5: the end stands/)
      .first(),
  ).toBeVisible();
  await expect(review(page).getByText("overdue")).toBeVisible();

  const startMs = RESULT.startMs + 3_600_000;
  const second = await addRun(
    page.request,
    { name: `${scenario} two`, scenario },
    { ...RESULT, startMs, latencyMs: 8 },
  );
  const group = (place: number) => page.getByRole("group", { name: `Action ${place}`, exact: true });
  await expect(group(1).getByText("Met")).toBeVisible();
  await expect(group(2).getByText("Missed")).toBeVisible();
  await expect(group(3).getByText("Not measured")).toBeVisible();
  await expect(group(1)).toContainText("over the steady window");
  await expectAccessibleInBoth(page, "#review");
  await page.setViewportSize({ width: 390, height: 844 });
  await expectWithin(page, 390, "the review with its actions");
  await page.setViewportSize({ width: 1280, height: 860 });

  await group(1)
    .getByRole("link", { name: `by ${scenario} two` })
    .click();
  await expect(page).toHaveURL(new RegExp(`/runs/${second}`));
  const earlier = page.getByRole("region", { name: "What this run says of earlier actions" });
  await expect(earlier.getByRole("listitem")).toHaveCount(3);
  await expect(earlier.getByText("answer from the cache")).toBeVisible();
  await expect(earlier).toContainText("mika");
  await expectAccessibleInBoth(page, "#review");
  await earlier.getByRole("link").first().click();
  await expect(page).toHaveURL(new RegExp(`/runs/${first}#review`));

  await page.goto("/runs");
  await page.getByRole("link", { name: "Open actions" }).click();
  const rows = page.locator("[data-list-item]");
  const own = rows.filter({ hasText: `${scenario} one` });
  await expect(own).toHaveCount(1);
  await expect(rows.filter({ hasText: `${scenario} two` })).toHaveCount(0);
  await page.goto("/runs/actions");
  await expect(page).toHaveURL(/\/runs\?actions=open$/);
  await expect(own).toHaveCount(1);

  await page.goto(`/runs/${first}#review`);
  for (const place of [1, 2, 3]) await page.getByLabel(`Action ${place}: State`).selectOption("done");
  await saved(page);
  await page.goto(`/runs?actions=open&scenario=${scenario}`);
  await expect(page.getByText("No run matches")).toBeVisible();
});
