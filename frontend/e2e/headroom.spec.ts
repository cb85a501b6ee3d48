/** The strip of limits while another one becomes the nearest. */
import { expect, OWN_SERVER, test } from "./live-test";
import { writeSamples } from "./remote-write";
import { type System, start, untilReady } from "./start-system";

const POOLS = Array.from({ length: 12 }, (_, index) => `shop-${String(index + 1).padStart(2, "0")}`);
const LIMIT = 100;

test.use(OWN_SERVER);

let system: System;
let full: string | null = null;
let timer: ReturnType<typeof setInterval>;

test.beforeAll(async () => {
  system = await start("server", () => ({ LOADWATCH_DEFAULT_RULES: "false" }), untilReady);
  timer = setInterval(() => void send(), 1000);
});
test.afterAll(async () => {
  clearInterval(timer);
  await system.stop();
});

/** What each pool uses now: the first the most, but for the one that is full. */
async function send(): Promise<void> {
  const timeMs = Date.now();
  const sample = (metric: string, instance: string, value: number) => ({
    labels: { __name__: `go_sql_${metric}_connections`, job: "shop", instance, db_name: "orders" },
    timeMs,
    value,
  });
  const samples = POOLS.flatMap((instance, place) => [
    sample("in_use", instance, instance === full ? LIMIT : 60 - 4 * place),
    sample("max_open", instance, LIMIT),
  ]);
  await writeSamples(system.url, samples);
}

test("the nearest limit stays at the left edge, and what was scrolled to stays in sight", async ({ page }) => {
  await page.goto(system.url);
  const list = page.getByRole("list", { name: "Headroom" });
  const first = list.getByRole("listitem").first();
  const scrolled = () => list.evaluate((element) => element.scrollLeft);
  await expect(list.getByRole("listitem")).toHaveCount(POOLS.length);
  await expect(first).toContainText("shop-01");

  for (const next of ["shop-09", "shop-12"]) {
    full = next;
    await expect(first).toContainText(next);
    await expect(first).toContainText("Exhausted");
    await expect(first).toBeInViewport({ ratio: 1 });
    expect(await scrolled()).toBe(0);
  }

  await list.hover();
  await page.mouse.wheel(500, 0);
  await expect.poll(scrolled).toBeGreaterThan(400);
  // Where a scroll ends is known only once it has: the same place in two frames.
  await expect
    .poll(() =>
      list.evaluate(async (element) => {
        const before = element.scrollLeft;
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        return element.scrollLeft === before;
      }),
    )
    .toBe(true);
  const held = await scrolled();
  full = "shop-11";
  await expect(first).toContainText("shop-11");
  expect(await scrolled()).toBe(held);
});
