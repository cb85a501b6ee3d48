// Leaves the live page of a running Loadwatch open and says what it holds, a JSON line for each look.
// Usage: node left-open.mjs URL LOOKS SECONDS_BETWEEN
import { openBrowser } from "../../examples/demo/browser.mjs";

const [url, looks, between] = process.argv.slice(2);
const browser = await openBrowser();
const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: "en-GB" });
const page = await context.newPage();
await page.goto(url);
await page.waitForSelector("path.lw-line[d]", { state: "attached", timeout: 60_000 });
const session = await context.newCDPSession(page);
const began = Date.now();
for (let look = 0; look < Number(looks); look += 1) {
  await page.waitForTimeout(Number(between) * 1_000);
  // Twice: what finalizers let go of in the first is gone with the second.
  await session.send("HeapProfiler.collectGarbage");
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  const { nodes, jsEventListeners } = await session.send("Memory.getDOMCounters");
  const seconds = (Date.now() - began) / 1_000;
  console.log(JSON.stringify({ seconds, heap_bytes: usedSize, nodes, listeners: jsEventListeners }));
}
await browser.close();
