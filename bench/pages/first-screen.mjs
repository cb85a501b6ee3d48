// Looks once at the live page as it opens, without scrolling, and prints what stands in its first screen as JSON.
// Usage: node first-screen.mjs URL PICTURE
import { openBrowser } from "../../examples/demo/browser.mjs";

const [url, picture] = process.argv.slice(2);
const SCREEN = { width: 1440, height: 900 };
/** Time from the opening to the look: the page is to answer in three seconds, with its first figures then. */
const LOOK_MS = 3_000;

const browser = await openBrowser();
const page = await browser.newPage({ viewport: SCREEN, locale: "en-GB", colorScheme: "light" });
await page.goto(url);
await page.waitForTimeout(LOOK_MS);
const seen = await page.evaluate((height) => {
  const whole = (node) => {
    const { top, bottom, height: own } = node.getBoundingClientRect();
    return own > 0 && top >= 0 && bottom <= height;
  };
  const text = (node) => node.innerText.replace(/\s+/g, " ").trim();
  const cells = [...document.querySelectorAll("section[data-under-way] dl > div")].filter(whole);
  const panel = (id) => {
    const node = document.getElementById(`panel-${id}`);
    return node !== null && whole(node) && node.querySelector("path.lw-line[d]") !== null;
  };
  const limits = [...document.querySelectorAll("[data-limit]")].filter(whole);
  return {
    cockpit: Object.fromEntries(cells.map((cell) => [text(cell.querySelector("dt")), text(cell.querySelector("dd"))])),
    nearest: limits.length > 0 ? { limit: limits[0].dataset.limit, text: text(limits[0]) } : null,
    charts: ["rps", "latency", "failures"].filter(panel),
  };
}, SCREEN.height);
await page.screenshot({ path: picture });
await browser.close();
console.log(JSON.stringify(seen, null, 2));
