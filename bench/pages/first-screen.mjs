// Looks at the live page as it opens, without scrolling, and prints what stands in its first screen as JSON.
// Usage: node first-screen.mjs URL PICTURE
import { openBrowser } from "../../examples/demo/browser.mjs";

const [url, picture] = process.argv.slice(2);
const SCREEN = { width: 1440, height: 900 };
/** The machine also plays the load: the page may take this long until all of it stands there. */
const LOOK_MS = 15_000;
const FIGURES = 5;
const CHARTS = ["rps", "latency", "failures"];

const browser = await openBrowser();
const page = await browser.newPage({ viewport: SCREEN, locale: "en-GB", colorScheme: "light" });
const opened = performance.now();
await page.goto(url);
await page
  .waitForFunction(
    ([figures, charts]) =>
      document.querySelectorAll("section[data-under-way] dl > div").length >= figures &&
      charts.every((id) => document.querySelector(`#panel-${id} path.lw-line[d]`) !== null),
    [FIGURES, CHARTS],
    { timeout: LOOK_MS },
  )
  .catch(() => undefined);
const after = Math.round(performance.now() - opened);
const seen = await page.evaluate(([height, wanted]) => {
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
    charts: wanted.filter(panel),
  };
}, [SCREEN.height, CHARTS]);
await page.screenshot({ path: picture });
await browser.close();
console.log(JSON.stringify({ after_ms: after, ...seen }, null, 2));
