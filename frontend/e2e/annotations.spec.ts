import { expect, openChart, test } from "./live-test";

test("an annotation is added with a click on a chart, changed and deleted", async ({ page }) => {
  const panel = await openChart(page);
  await panel.locator(".lw-surface").click({ position: { x: 200, y: 60 } });
  const form = page.getByRole("dialog", { name: "New annotation" });
  await form.getByRole("button", { name: "Add" }).click();
  await expect(form.getByText("Write what happened.")).toBeVisible();
  await form.getByLabel("Text").fill("bounded pool deployed");
  await expect(form.getByLabel("Author")).toHaveAttribute("placeholder", "local");
  await form.getByLabel("Tags").fill("deploy");
  await page.keyboard.press("Enter");
  await form.getByRole("button", { name: "Add" }).click();
  await expect(form).toBeHidden();

  const mark = page.getByRole("button", { name: "Annotation: bounded pool deployed" });
  await expect(mark).toBeVisible();
  await expect(panel.locator(".lw-flag")).toBeAttached();

  await mark.click();
  const edit = page.getByRole("dialog", { name: "Edit annotation" });
  await expect(edit.getByLabel("Author")).toHaveValue("local");
  await edit.getByLabel("Author").fill("mika");
  await edit.getByLabel("Text").fill("bounded pool (30) deployed");
  await edit.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("button", { name: "Annotation: bounded pool (30) deployed" })).toBeVisible();

  await page.keyboard.press("a");
  const list = page.getByRole("dialog", { name: "Annotations" });
  await expect(list.getByText("deploy", { exact: true })).toBeVisible();
  await expect(list.getByText(/by mika/)).toBeVisible();
  await list.getByRole("button", { name: /^Delete: bounded pool/ }).click();
  await page.getByRole("dialog", { name: "Delete this annotation?" }).getByRole("button", { name: "Delete" }).click();
  await expect(page.getByRole("button", { name: /^Annotation: bounded pool/ })).toHaveCount(0);
});

test("a drag in the lane makes a span; the author is remembered", async ({ page }) => {
  await page.addInitScript(() => localStorage.setItem("loadwatch.author", "ken"));
  await openChart(page);
  const lane = page.getByRole("group", { name: "Annotations in this range" }).locator("> div");
  const box = await lane.boundingBox();
  if (box === null) throw new Error("the lane is not shown");
  await page.mouse.move(box.x + box.width * 0.3, box.y + 10);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 10, { steps: 4 });
  await page.mouse.up();
  const form = page.getByRole("dialog", { name: "New annotation" });
  await expect(form.getByRole("checkbox", { name: "Lasts for a while" })).toBeChecked();
  await expect(form.getByLabel("Author")).toHaveValue("ken");
  await form.getByLabel("Text").fill("load, third try");
  await page.keyboard.press("Control+Enter");
  await expect(page.getByRole("button", { name: "Annotation: load, third try" })).toBeVisible();
});
