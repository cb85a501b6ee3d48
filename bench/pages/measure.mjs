// Measures pages of a running Loadwatch and prints one JSON document.
// Usage: node measure.mjs URL RUN [axe [SETUP QUIET AGENT]]; SETUP is the one-time link of a server without users,
// QUIET a server whose only agent has the process id AGENT, which is ended.
import { createRequire } from "node:module";
import { gzipSync } from "node:zlib";
import { openBrowser } from "../../examples/demo/browser.mjs";

// Belongs to the page's own workspace.
const axe = createRequire(new URL("../../frontend/package.json", import.meta.url))("axe-core");

const [url, run, what = "", setup = "", quiet = "", agent = ""] = process.argv.slice(2);
const WATCHED_MS = 20_000;
const SIZES = { desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } };
const LOCALES = ["en-GB", "ja-JP"];
const SCHEMES = ["light", "dark"];

async function ask(path, body) {
  const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  return (await fetch(url + path, body === undefined ? {} : init)).json();
}

const pair = (await ask("/api/runs?limit=2")).runs.map(({ id }) => `run=${id}`).join("&");
const [alert] = (await ask("/api/alerts/history?limit=1")).alerts;
const share = await ask(`/api/runs/${run}/shares`, { days: 1 });
const PATHS = [
  ...["/", "/runs", `/runs/${run}`, `/runs/compare?${pair}`, "/runs/sweep", "/runs/trend", "/runs/meeting"],
  ...[`/runs/${run}/profiles`, `/api/runs/${run}/report?format=html`, share.path, "/share/of-nothing"],
  ...["/access/account", ...(alert === undefined ? [] : [`/alerts/${alert.id}`])],
  ...["/connect", "/targets", "/access", "/access/tokens", "/access/audit"],
  ...["/alerts", "/alerts/history", "/alerts/rules", "/alerts/routes", "/alerts/silences", "/alerts/receivers"],
  ...["/alerts/deliveries", "/no-such-page"],
].map((path) => url + path);
if (setup !== "") PATHS.push(new URL("/", setup).href, setup);

const browser = await openBrowser();

/** In the page, before anything else: layout shifts that no input caused, and when the first line of a chart stood. */
function observe() {
  const seen = { shift: 0, worst: 0, shifted: [], painted: null };
  window.__seen = seen;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (entry.hadRecentInput) continue;
      seen.shift += entry.value;
      for (const source of entry.sources ?? []) {
        const node = source.node;
        if (node instanceof Element) seen.shifted.push(`${entry.value.toFixed(4)} ${node.tagName}.${node.className}`.slice(0, 90));
      }
    }
  }).observe({ type: "layout-shift", buffered: true });
  const look = () => {
    const line = document.querySelector("path.lw-line[d]");
    if (line !== null && line.getAttribute("d") !== "") seen.painted = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

async function cost(path, viewport) {
  const context = await browser.newContext({ viewport, locale: "en-GB", colorScheme: "light" });
  const page = await context.newPage();
  await page.addInitScript(observe);
  const scripts = new Map();
  page.on("response", async (response) => {
    if (response.request().resourceType() !== "script") return;
    const body = await response.body().catch(() => null);
    if (body !== null) scripts.set(response.url(), gzipSync(body).length);
  });
  // Warm: the second time, with all files in the browser's cache.
  const paints = [];
  let first = 0;
  for (let time = 0; time < 4; time += 1) {
    await page.goto(url + path);
    await page.waitForFunction(() => window.__seen.painted !== null, undefined, { timeout: 60_000 });
    paints.push(await page.evaluate(() => window.__seen.painted));
    await page.waitForTimeout(2_000);
    if (time === 0) first = (await page.evaluate(() => window.__seen)).shift;
  }
  const session = await context.newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const busy = async () =>
    (await session.send("Performance.getMetrics")).metrics.find(({ name }) => name === "TaskDuration").value;
  const before = await busy();
  await page.waitForTimeout(WATCHED_MS);
  const after = await busy();
  const seen = await page.evaluate(() => window.__seen);
  await context.close();
  return {
    first_paint_ms: Math.round(paints[0]),
    warm_paint_ms: Math.round(paints.slice(1).sort((a, b) => a - b)[1]),
    first_layout_shift: Number(first.toFixed(4)),
    layout_shift: Number(seen.shift.toFixed(4)),
    shifted: seen.shifted.slice(0, 12),
    main_thread_share: Number((((after - before) * 1_000) / WATCHED_MS).toFixed(4)),
    script_gzip_bytes: [...scripts.values()].reduce((sum, size) => sum + size, 0),
  };
}

/** Of the live page while its agent stops and the page comes to say so. */
async function stopped() {
  const context = await browser.newContext({ viewport: SIZES.desktop, locale: "en-GB" });
  const page = await context.newPage();
  await page.addInitScript(observe);
  await page.goto(quiet);
  await page.waitForFunction(() => window.__seen.painted !== null, undefined, { timeout: 60_000 });
  await page.waitForTimeout(2_000);
  const before = (await page.evaluate(() => window.__seen)).shift;
  process.kill(Number(agent));
  await page.getByRole("status").filter({ hasText: "No new sample" }).waitFor({ timeout: 60_000 });
  await page.waitForTimeout(1_000);
  const after = (await page.evaluate(() => window.__seen)).shift;
  await context.close();
  return Number((after - before).toFixed(4));
}

async function accessibility() {
  const found = [];
  for (const [size, viewport] of Object.entries(SIZES)) {
    for (const locale of LOCALES) {
      const context = await browser.newContext({ viewport, locale, reducedMotion: "reduce" });
      const page = await context.newPage();
      for (const path of PATHS) {
        await page.goto(path);
        await page.waitForSelector("h1, h2", { state: "attached", timeout: 60_000 });
        await page.waitForTimeout(1_500);
        await page.evaluate(axe.source);
        for (const scheme of SCHEMES) {
          await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
          await page.waitForTimeout(300);
          const look = () => page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
          let result = await look();
          // What fades in is pale: a violation is one that stays.
          for (let again = 0; again < 3 && result.violations.length > 0; again += 1) {
            await page.waitForTimeout(700);
            result = await look();
          }
          for (const one of result.violations)
            found.push(`${path} ${size} ${locale} ${scheme}: ${one.id}: ${one.nodes.map(({ target }) => target).slice(0, 3).join(" | ")}`);
        }
      }
      await context.close();
    }
  }
  return { pages: PATHS.length, looks: PATHS.length * 8, violations: found };
}

const document_ = {
  ...(quiet === "" ? {} : { stopped_agent: await stopped() }),
  live: await cost("/", SIZES.desktop),
  live_phone: await cost("/", SIZES.phone),
  run: await cost(`/runs/${run}`, SIZES.desktop),
  ...(what === "axe" ? { axe: await accessibility() } : {}),
};
await browser.close();
console.log(JSON.stringify(document_, null, 2));
