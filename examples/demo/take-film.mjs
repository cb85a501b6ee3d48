// Takes pictures of one page at a steady pace, as FOLDER/0001.png and so on: the frames of a film.
// Usage: node take-film.mjs URL FOLDER COUNT EVERY_MS
import { join } from "node:path";
import { openBrowser } from "./browser.mjs";

const [url, folder, count, every] = process.argv.slice(2);
const browser = await openBrowser();
const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, locale: "en-GB", colorScheme: "light" });
await page.goto(url);
await page.waitForSelector("main h2", { timeout: 60_000 });
const begin = Date.now();
for (let frame = 0; frame < Number(count); frame += 1) {
  await page.waitForTimeout(Math.max(begin + frame * Number(every) - Date.now(), 0));
  await page.screenshot({ path: join(folder, `${String(frame).padStart(4, "0")}.png`) });
}
await browser.close();
