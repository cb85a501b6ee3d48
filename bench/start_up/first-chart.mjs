// Waits until a page of Loadwatch shows a line in a chart, and prints the milliseconds since the epoch at which it did.
// Usage: node first-chart.mjs URL TIMEOUT_SECONDS
import { chromium } from "@playwright/test";

const [url, timeout] = process.argv.slice(2);
const deadline = Date.now() + Number(timeout) * 1000;
const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
});
const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
let drawn;
while (drawn === undefined && Date.now() < deadline) {
  try {
    await page.goto(url, { timeout: 5000 });
    await page.waitForFunction(() => document.querySelector("path[data-series]")?.getTotalLength() > 0, null, {
      timeout: Math.max(deadline - Date.now(), 1000),
      polling: 20,
    });
    drawn = Date.now();
  } catch {
    // Nothing listens yet.
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
await browser.close();
if (drawn === undefined) {
  console.error(`no chart at ${url} within ${timeout} s`);
  process.exit(1);
}
console.log(drawn);
