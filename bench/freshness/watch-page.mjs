// Looks at one chart in every frame and prints how old each new sample was when it was drawn, as JSON in ms.
// Usage: node watch-page.mjs URL SECONDS
import { createRequire } from "node:module";

// Playwright belongs to the page's own workspace.
const { chromium } = createRequire(new URL("../../frontend/package.json", import.meta.url))("@playwright/test");

const [url, seconds] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.LOADWATCH_CHROMIUM ?? "/usr/bin/chromium",
  args: [
    ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"],
    ...["--disable-background-networking", "--disable-component-update"],
  ],
});
const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
await page.goto(url);
await page.waitForSelector("h2", { timeout: 60_000 });
await page.waitForTimeout(12_000);
await page.goto(`${url}/#panel-memory`);
await page.waitForSelector("#panel-memory path.lw-line", { state: "attached", timeout: 60_000 });
await page.waitForTimeout(3000);

const delays = await page.evaluate(watch, Number(seconds) * 1000);
await browser.close();
console.log(JSON.stringify({ delays_ms: delays }));

/** Runs in the page: the last point of the line, in pixels, tells which sample was drawn last. */
function watch(durationMs) {
  const INTERVAL_MS = 1000;
  const panel = document.querySelector("#panel-memory");
  const found = [];
  let newest = 0;
  let axis = "";
  const began = performance.now();
  return new Promise((resolve) => {
    const frame = () => {
      const { startMs, endMs } = panel.dataset;
      const path = panel.querySelector("path.lw-line").getAttribute("d");
      const surface = panel.querySelector(".lw-surface");
      const x = Number(/([\d.]+)(?:,[\d.]+|V[\d.]+)$/.exec(path)?.[1]);
      const share = (x - surface.offsetLeft) / surface.offsetWidth;
      const timeMs = Math.round((Number(startMs) + share * (endMs - startMs)) / INTERVAL_MS) * INTERVAL_MS;
      // The time axis moves a little before its lines do: what is read across such a step would be wrong.
      const steady = axis === `${startMs} ${endMs}` && timeMs <= Date.now();
      if (timeMs > newest && steady) {
        if (newest > 0) found.push(Date.now() - timeMs);
        newest = timeMs;
      }
      axis = `${startMs} ${endMs}`;
      if (performance.now() - began < durationMs) requestAnimationFrame(frame);
      else resolve(found);
    };
    requestAnimationFrame(frame);
  });
}
