/**
 * Measures a live page of 12 charts in Chromium: main-thread CPU of an update and of a hover move, long tasks, heap.
 * Every variant runs on the same build, in the same browser, one after the other. Writes bench/results/charts.*.
 */
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { cpus, loadavg } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };
const UPDATES = Number(process.env.UPDATES ?? 65);
const MOVES = Number(process.env.MOVES ?? 60);
const VARIANTS = (process.env.VARIANTS ?? "ours,recharts,uplot").split(",");
const NAMES = { ours: "Loadwatch", recharts: "Recharts `<Line>`, tuned", uplot: "uPlot (canvas), the limit" };
const BROWSER = [
  ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"],
  ...["--disable-sync", "--disable-quic", "--no-first-run", "--enable-precise-memory-info"],
];

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const sorted = (values) => [...values].sort((a, b) => a - b);
const at = (values, share) => sorted(values)[Math.min(values.length - 1, Math.floor(values.length * share))];
const round = (value) => Math.round(value * 10) / 10;

function serve() {
  const server = createServer(async (request, response) => {
    const path = new URL(request.url, "http://host").pathname;
    try {
      const body = await readFile(join(HERE, "dist", path === "/" ? "index.html" : path));
      response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "text/html" });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  return new Promise((done) => server.listen(0, "127.0.0.1", () => done(server)));
}

/** Thread time of each main-thread task over `turns` updates, in milliseconds, by Chromium's own trace. */
async function traceTasks(browser, page, turns) {
  await browser.startTracing(page, { categories: ["toplevel"] });
  for (let turn = 0; turn < turns; turn += 1) {
    await page.evaluate(() => window.bench.update());
    await sleep(500);
  }
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  const mains = new Set(
    traceEvents
      .filter((event) => event.name === "thread_name" && event.args.name === "CrRendererMain")
      .map((event) => `${event.pid} ${event.tid}`),
  );
  return traceEvents
    .filter((event) => event.name.endsWith("RunTask") && mains.has(`${event.pid} ${event.tid}`))
    .map((event) => (event.tdur ?? 0) / 1000);
}

async function measure(browser, origin, variant) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 1100 } });
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.goto(`${origin}/?variant=${variant}&width=460`);
  await page.waitForSelector(
    variant === "uplot" ? "canvas" : variant === "ours" ? "path.lw-line" : "path.recharts-curve",
  );
  await sleep(2500);
  const cdp = await page.context().newCDPSession(page);
  // Thread time, not wall time: what else runs on the machine must not count.
  await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
  const cpu = async () => {
    const { metrics } = await cdp.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "TaskDuration").value * 1000;
  };
  for (let warm = 0; warm < 5; warm += 1) {
    await page.evaluate(() => window.bench.update());
    await sleep(400);
  }
  // What the page and the measuring itself cost while nothing happens.
  await sleep(3000);
  const idles = [];
  for (let second = 0; second < 4; second += 1) {
    const from = await cpu();
    await sleep(1000);
    idles.push((await cpu()) - from);
  }
  const idlePerSecond = Math.min(...idles);

  await page.evaluate(() => window.bench.longTasks.splice(0));
  const updates = [];
  const moves = [];
  for (let turn = 0; turn < UPDATES; turn += 1) {
    const from = await cpu();
    const moved = await page.evaluate(() => window.bench.update());
    await sleep(1000);
    const took = (await cpu()) - from - idlePerSecond;
    updates.push(took);
    if (moved) moves.push(round(took));
  }
  const longTasks = await page.evaluate(() => window.bench.longTasks.splice(0));

  // A full step of the time axis (30 s) lies within the traced stretch.
  const tasks = await traceTasks(browser, page, 32);
  await page.evaluate(() => window.bench.longTasks.splice(0));

  const box = await page.locator(".grid > *").nth(4).boundingBox();
  const hovers = [];
  for (let round = 0; round < 5; round += 1) {
    const from = await cpu();
    const began = performance.now();
    for (let move = 0; move < MOVES; move += 1) {
      await page.mouse.move(box.x + 80 + ((move * 7) % (box.width - 120)), box.y + 90 + (move % 20));
      await sleep(25);
    }
    const idle = (idlePerSecond * (performance.now() - began)) / 1000;
    hovers.push(((await cpu()) - from - idle) / MOVES);
  }
  const hoverLongTasks = await page.evaluate(() => window.bench.longTasks.splice(0));
  await cdp.send("HeapProfiler.collectGarbage");
  const heap = await page.evaluate(() => performance.memory.usedJSHeapSize / 2 ** 20);
  await page.close();
  if (errors.length > 0) throw new Error(`${variant}: ${errors.join("; ")}`);
  return {
    variant: NAMES[variant],
    update_cpu_ms: {
      min: round(Math.min(...updates)),
      median: round(at(updates, 0.5)),
      p95: round(at(updates, 0.95)),
      max: round(Math.max(...updates)),
    },
    axis_moves_cpu_ms: moves,
    task_cpu_ms: { over_50: tasks.filter((took) => took > 50).length, longest: round(Math.max(...tasks)) },
    long_tasks: { count: longTasks.length, longest_ms: round(Math.max(0, ...longTasks)) },
    hover_cpu_ms: { min: round(Math.min(...hovers)), median: round(at(hovers, 0.5)) },
    hover_long_tasks: hoverLongTasks.length,
    heap_mib: round(heap),
    idle_cpu_ms_per_s: round(idlePerSecond),
  };
}

function table(report) {
  const rows = report.results.map((result) => {
    const { update_cpu_ms: update, task_cpu_ms: task, hover_cpu_ms: hover, long_tasks: long } = result;
    return `| ${result.variant} | ${update.min} | ${update.median} | ${update.p95} | ${update.max} | ${result.axis_moves_cpu_ms.join(", ")} | ${task.over_50} (${task.longest}) | ${long.count} (${long.longest_ms}) | ${hover.min} (${hover.median}) | ${result.heap_mib} |`;
  });
  return `# Charts in the browser

${report.date}, ${report.machine}, ${report.browser}. 12 charts x 4 series x 600 points at 1 Hz, all in view, run
bands and annotation lines, shared crosshair; production builds, one after the other in one browser. CPU is thread time of the
main thread in milliseconds (\`TaskDuration\` of the DevTools protocol, by thread ticks) less what the idle page takes, over
${UPDATES} updates, those among them that move the time axis too. Tasks by their CPU come from Chromium's trace of 32 more updates;
by the clock they include waiting for a processor: the load average at the end was ${report.load_average[0]}.
Goals: 50 ms an update, 15 ms a hover move, no task over 50 ms.

| | update min | median | p95 | max | updates that move the time axis | tasks over 50 ms CPU (longest) | over 50 ms by the clock (longest) | hover move, min (median) | heap MiB |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
${rows.join("\n")}

Run again: \`cd bench/charts && npm ci && npm run bench\` (the workspace's own packages installed at the root first).
`;
}

const server = await serve();
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: BROWSER });
try {
  const results = [];
  for (const variant of VARIANTS) {
    const result = await measure(browser, `http://127.0.0.1:${server.address().port}`, variant);
    console.log(JSON.stringify(result));
    results.push(result);
  }
  const report = {
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} x ${cpus()[0].model.trim()}, no GPU`,
    load_average: loadavg().map(round),
    browser: `Chromium ${browser.version()}, Node ${process.versions.node}`,
    results,
  };
  if (process.env.WRITE !== "0") {
    const target = join(HERE, "../results");
    await writeFile(join(target, "charts.json"), `${JSON.stringify(report, null, 2)}\n`);
    await writeFile(join(target, "charts.md"), table(report));
  }
} finally {
  await browser.close();
  server.close();
}
