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

test("an action is typed, and the next run of the scenario scores it by itself", async ({ page }) => {
  const scenario = unique("scored");
  const first = await openRun(page, { name: `${scenario} one`, scenario });
  await addAction(page, 1, "answer from the cache", "p95<20ms");
  await page.getByRole("combobox", { name: "Action 1: Owner" }).fill("mika");
  await page.getByLabel("Action 1: Due").fill("2020-01-31");
  await addAction(page, 2, "write fewer rows", "error_rate<0.1%");
  await addAction(page, 3, "half typed", "p95<");
  await saved(page);
  await expect(review(page).getByText(/^In this run: .* The next run of the scenario scores it\.$/)).toHaveCount(2);
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
  await expect(group(1).getByText("Held")).toBeVisible();
  await expect(group(2).getByText("Missed")).toBeVisible();
  await expect(group(3).getByText("Cannot tell")).toBeVisible();
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
  await expect(page.getByRole("heading", { level: 1, name: "Open actions" })).toBeVisible();
  const line = page.getByRole("listitem").filter({ hasText: "answer from the cache" });
  await expect(line).toContainText("due 2020-01-31");
  await expect(line).toContainText("overdue");
  await expect(line.getByText("Held")).toBeVisible();
  await expectAccessibleInBoth(page);
  await page.setViewportSize({ width: 390, height: 844 });
  await expectWithin(page, 390, "open actions");

  // Ticked where it stands, it stays there until the page is left, and can be taken back.
  const tick = page.getByRole("checkbox", { name: "answer from the cache" });
  const states = async () => {
    const held = await (await page.request.get(`/api/runs/${first}/review`)).json();
    return (held as { actions: { state: string }[] }).actions.map(({ state }) => state);
  };
  await tick.check();
  await expect(line.getByText("Done", { exact: true })).toBeVisible();
  await expect.poll(states).toEqual(["done", "open", "open"]);
  await tick.uncheck();
  await expect(line.getByText("Open", { exact: true })).toBeVisible();
  await expect.poll(states).toEqual(["open", "open", "open"]);
  await tick.check();
  await expect.poll(states).toEqual(["done", "open", "open"]);
  await page.reload();
  await expect(page.getByText("write fewer rows")).toBeVisible();
  await expect(page.getByText("answer from the cache")).toHaveCount(0);
});

test("two who write different actions at once are not in each other's way", async ({ page }) => {
  const id = await openRun(page, { name: unique("together") });
  await addAction(page, 1, "mine", "");
  await saved(page);
  const address = `/api/runs/${id}/review`;
  const held = (await (await page.request.get(address)).json()) as { version: number; actions: object[] };
  const theirs = { version: held.version, author: "ken", actions: [...held.actions, { id: "x", text: "of ken" }] };
  expect((await page.request.put(address, { data: theirs })).ok()).toBe(true);
  await page.getByRole("textbox", { name: "Action 1", exact: true }).fill("mine, put better");
  await expect(page.getByRole("textbox", { name: "Action 2", exact: true })).toHaveValue("of ken");
  await saved(page);
  await expect(page.getByRole("alert")).toHaveCount(0);
  await page.getByRole("button", { name: "Remove action 2" }).click();
  await saved(page);
  await page.reload();
  await expect(page.getByRole("textbox", { name: "Action 1", exact: true })).toHaveValue("mine, put better");
  await expect(page.getByRole("textbox", { name: "Action 2", exact: true })).toHaveCount(0);
});
