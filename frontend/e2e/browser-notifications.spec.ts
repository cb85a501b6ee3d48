import config from "../playwright.config";
import { type AlertSystem, startAlertSystem } from "./alert-system";
import { expect, OWN_SERVER, test } from "./live-test";

// The shell of the other tests has no notifications, and refuses them whatever is granted.
test.use({ ...OWN_SERVER, launchOptions: { ...config.use?.launchOptions, executablePath: "/usr/bin/chromium" } });

let system: AlertSystem;
test.beforeAll(async () => {
  system = await startAlertSystem();
});
test.afterAll(async () => {
  await system.stop();
});

/** Names differ from one attempt to the next: the server keeps what it was told. */
const unique = (name: string) => `${name}-${Math.random().toString(36).slice(2, 7)}`;

test("the browser tells of a new alert once it is asked to, and not of those before", async ({ page, context }) => {
  await context.grantPermissions(["notifications"], { origin: system.url });
  await page.addInitScript(() => {
    const shown: string[] = [];
    const Real = window.Notification;
    window.Notification = new Proxy(Real, {
      construct: (target, [title, options]: [string, NotificationOptions]) => {
        shown.push(`${title} ${options.body ?? ""}`);
        return new target(title, options);
      },
    });
    (window as unknown as { shown: string[] }).shown = shown;
  });
  const before = unique("before");
  await system.queue(before, 500);
  await page.goto(`${system.url}/alerts?search=${before}`);
  const found = page.locator("main [data-list-item]").filter({ hasText: before });
  await expect(found).toContainText("Firing");
  const shown = () => page.evaluate(() => (window as unknown as { shown: string[] }).shown);
  await page.getByRole("button", { name: "Notify me here" }).click();
  await expect(page.getByRole("button", { name: "Notifying" })).toHaveAttribute("aria-pressed", "true");
  const queue = unique("called");
  await system.queue(queue, 700);
  await expect.poll(shown).toEqual([`Firing: QueueTooLong ${queue} holds 700 messages`]);
  await page.getByRole("button", { name: "Notifying" }).click();
  await expect(page.getByRole("button", { name: "Notify me here" })).toBeVisible();
  await system.queue(queue, 1);
  await system.queue(before, 1);
  await page.mouse.move(0, 0);
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  await expect(found).toHaveCount(0);
  expect(await shown()).toHaveLength(1);
});
