// Takes a picture of one page in both languages, as FOLDER/NAME-light.png and FOLDER/NAME-ja.png.
// Usage: node take-pictures.mjs URL HEIGHT FOLDER NAME
import { join } from "node:path";
import { openBrowser } from "./browser.mjs";

const [url, height, folder, name] = process.argv.slice(2);
const LOCALES = { light: "en-GB", ja: "ja-JP" };
const browser = await openBrowser();
const pages = Object.entries(LOCALES).map(async ([suffix, locale]) => {
  const viewport = { width: 1440, height: Number(height) };
  const page = await browser.newPage({ viewport, locale, colorScheme: "light" });
  await page.goto(url);
  await page.waitForSelector("main h2", { timeout: 60_000 });
  await page.waitForTimeout(8000);
  await page.screenshot({ path: join(folder, `${name}-${suffix}.png`) });
});
await Promise.all(pages);
await browser.close();
