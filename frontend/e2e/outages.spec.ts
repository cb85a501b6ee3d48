/** What pages say while the server is away or its database takes nothing, and that they stop saying so by themselves. */
import { execFileSync } from "node:child_process";
import { expect, expectAccessibleInBoth, OWN_SERVER, test } from "./live-test";
import { writeSamples } from "./remote-write";
import { start, untilReady } from "./start-system";

test.use(OWN_SERVER);

test("pages say that nothing is evaluated while the disk takes no more", async ({ page }) => {
  let pid = 0;
  const system = await start(
    "server",
    () => ({ LOADWATCH_DEFAULT_RULES: "false" }),
    async (url, child) => {
      pid = child.pid ?? 0;
      await untilReady(url, child);
    },
  );
  // The kernel refuses writes to files beyond a size, as it does on a full disk.
  const limitFiles = (bytes: string) => execFileSync("prlimit", [`--pid=${pid}`, `--fsize=${bytes}:unlimited`]);
  const banner = page.getByRole("alert").filter({ hasText: "Alerts are not being evaluated." });
  try {
    await page.goto(`${system.url}/runs`);
    await expect(page.getByRole("link", { name: "Targets" })).toBeVisible();
    await expect(banner).toBeHidden();
    limitFiles("1000");
    await expect(banner).toContainText(/The disk (has been full|cannot be read or written) since \d\d:\d\d:\d\d/);
    await page.goto(system.url);
    await expect(banner).toBeVisible();
    await expectAccessibleInBoth(page);
    limitFiles("unlimited");
    await expect(banner).toBeHidden();
  } finally {
    await system.stop();
  }
});

test("samples that stop coming are said without anything moving", async ({ page }) => {
  const system = await start("server", () => ({ LOADWATCH_DEFAULT_RULES: "false" }), untilReady);
  const send = () => {
    const sample = { labels: { __name__: "process_open_fds", job: "shop", instance: "a", name: "shop" }, value: 30 };
    const limit = { labels: { ...sample.labels, __name__: "process_max_fds" }, value: 100 };
    const timeMs = Date.now();
    return writeSamples(system.url, [
      { ...sample, timeMs },
      { ...limit, timeMs },
    ]);
  };
  const timer = setInterval(() => void send().catch(() => undefined), 1000);
  try {
    await page.goto(system.url);
    await expect(page.getByRole("region", { name: "Headroom" }).locator("[data-limit]").first()).toBeVisible();
    const below = page.getByRole("button", { name: "Fold Mission" });
    await expect(below).toBeVisible();
    let before = -1;
    await expect(async () => {
      before = (await below.boundingBox())?.y ?? -1;
      await page.waitForTimeout(1500);
      expect((await below.boundingBox())?.y).toBe(before);
    }).toPass();
    clearInterval(timer);
    await expect(page.getByRole("status").filter({ hasText: /^No new sample for/ })).toBeInViewport({ ratio: 1 });
    expect((await below.boundingBox())?.y).toBe(before);
  } finally {
    clearInterval(timer);
    await system.stop();
  }
});

test("a server that is started anew has its pages back at once", async ({ page }) => {
  const system = await start("server", () => ({ LOADWATCH_DEFAULT_RULES: "false" }), untilReady);
  let refused = 0;
  const answers: string[] = [];
  page.on("requestfailed", (request) => {
    if (request.url().endsWith("/api/live")) refused += 1;
  });
  page.on("response", (response) => {
    const path = new URL(response.url()).pathname;
    if (response.ok() && (path === "/api/live" || path === "/api/status")) answers.push(path);
  });
  const badge = page.getByTitle("Stream lost, asking each second");
  const away = page.getByRole("alert").filter({ hasText: "The server does not answer" });
  try {
    await page.goto(system.url);
    await expect.poll(() => answers).toContain("/api/live");
    await system.halt();
    await expect(away.first()).toBeVisible();
    await expect.poll(() => refused).toBeGreaterThan(3);
    answers.length = 0;
    await system.resume();
    await expect.poll(() => answers).toContain("/api/live");
    // Whatever the page asks while it waits for the stream: one answer is enough to know that the server is back.
    expect(answers.slice(0, answers.indexOf("/api/live")).length).toBeLessThan(2);
    await expect(away).toHaveCount(0);
    await expect(badge).toBeHidden();
  } finally {
    await system.stop();
  }
});
