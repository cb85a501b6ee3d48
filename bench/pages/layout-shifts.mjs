// Leaves the live page open at two widths in two languages and says what moved on it without anybody's doing.
// Usage: node layout-shifts.mjs URL; opens the pages, prints `open`, waits for a line, loads each page once more and
// prints one JSON document.
import { openBrowser } from "../../examples/demo/browser.mjs";

const [url] = process.argv.slice(2);
const SIZES = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
];
const LOCALES = ["en-GB", "ja-JP"];
const LOAD_MS = 5_000;

/** In the page, before anything else: each shift with the element that moved most, and which blocks changed their height. */
function observe() {
  const shifts = [];
  window.__shifts = shifts;
  const name = (element) =>
    element === null ? "" : [element.tagName.toLowerCase(), ...element.classList].join(".").replaceAll(/_[\w-]{5,6}_\d+/g, "");
  const heights = () =>
    new Map(
      [...document.querySelectorAll("main > *, main > * > *, main > * > * > *")].map((element) => [
        element,
        Math.round(element.getBoundingClientRect().height),
      ]),
    );
  let before = new Map();
  setInterval(() => {
    before = heights();
  }, 500);
  new PerformanceObserver((list) => {
    const now = heights();
    const grown = [...now]
      .filter(([element, height]) => before.has(element) && before.get(element) !== height)
      .map(([element, height]) => `${element.ariaLabel ?? name(element)} ${before.get(element)} → ${height} px`);
    const come = [...now.keys()].filter((element) => !before.has(element)).map((element) => `+ ${element.ariaLabel ?? name(element)}`);
    for (const { value, startTime, hadRecentInput, sources } of list.getEntries()) {
      if (hadRecentInput) continue;
      const moved = (source) => Math.hypot(source.currentRect.y - source.previousRect.y, source.currentRect.x - source.previousRect.x);
      const [most] = [...sources].sort((a, b) => moved(b) - moved(a));
      const node = most?.node ?? null;
      shifts.push({
        ...{ value, at_ms: startTime, moved_px: most === undefined ? 0 : Math.round(moved(most)) },
        node: name(node instanceof Element ? node : (node?.parentElement ?? null)),
        text: (node?.textContent ?? "").trim().replaceAll(/\s+/g, " ").slice(0, 60),
        // The innermost first.
        blocks: [...grown.reverse(), ...come].slice(0, 4),
      });
    }
  }).observe({ type: "layout-shift", buffered: true });
}

const sum = (shifts) => shifts.reduce((total, { value }) => total + value, 0);
const shiftsOf = (page) => page.evaluate(() => window.__shifts);
const browser = await openBrowser();
const pages = [];
for (const viewport of SIZES) {
  for (const locale of LOCALES) {
    const page = await (await browser.newContext({ viewport, locale })).newPage();
    page.setDefaultTimeout(120_000);
    await page.addInitScript(observe);
    await page.goto(url);
    await page.waitForTimeout(LOAD_MS);
    pages.push({ width: viewport.width, locale, page });
  }
}
console.log("open");
for await (const _ of process.stdin) break;
const found = [];
for (const { width, locale, page } of pages) {
  const shifts = await shiftsOf(page);
  const first = shifts.filter(({ at_ms }) => at_ms < LOAD_MS);
  const later = shifts.filter(({ at_ms }) => at_ms >= LOAD_MS);
  await page.reload();
  await page.waitForTimeout(LOAD_MS);
  const loaded = await shiftsOf(page);
  found.push({ width, locale, first: sum(first), open: sum(later), reload: sum(loaded), shifts: { first, later, loaded } });
}
await browser.close();
console.log(JSON.stringify(found));
