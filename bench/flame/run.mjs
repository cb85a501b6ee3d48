/**
 * Measures how long Chromium takes to paint a flame graph of 20,000 nodes: our canvas beside an SVG element a box.
 * Writes bench/results/flame.*.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { cpus, loadavg, release, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { build } from "vite";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const NODES = Number(process.env.NODES ?? 20_000);
const TURNS = Number(process.env.TURNS ?? 15);
const BROWSER = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"];

async function bundle() {
  const outDir = await mkdtemp(join(tmpdir(), "loadwatch-flame-"));
  try {
    await build({
      ...{ configFile: false, logLevel: "error", root: here(".") },
      resolve: { alias: { "@": here("../../frontend/src") } },
      build: { outDir, lib: { entry: here("entry.ts"), formats: ["iife"], name: "flame", fileName: () => "flame.js" } },
    });
    return await readFile(join(outDir, "flame.js"), "utf8");
  } finally {
    await rm(outDir, { recursive: true });
  }
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const round = (value) => Math.round(value * 10) / 10;

async function measure(page, cpu, way, shape) {
  const runs = [];
  for (let turn = 0; turn <= TURNS; turn += 1) {
    const from = await cpu();
    const one = await page.evaluate(([w, s, n]) => window.measure(w, s, n), [way, shape, NODES]);
    // The first one also compiles.
    if (turn > 0) runs.push({ ...one, cpu: (await cpu()) - from });
  }
  const of = (name) => ({ median: round(median(runs.map((run) => run[name]))), most: round(Math.max(...runs.map((run) => run[name]))) });
  return { way, shape, nodes: runs[0].nodes, boxes: runs[0].boxes, script_ms: of("script"), shown_ms: of("shown"), cpu_ms: of("cpu") };
}

const script = await bundle();
const browser = await chromium.launch({ executablePath: process.env.LOADWATCH_CHROMIUM ?? "/usr/bin/chromium", args: BROWSER });
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
await page.setContent("<!doctype html><body></body>");
await page.addScriptTag({ content: script });
const cdp = await page.context().newCDPSession(page);
// Thread time: what else runs on the machine must not count.
await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
const cpu = async () => {
  const { metrics } = await cdp.send("Performance.getMetrics");
  return metrics.find(({ name }) => name === "TaskDuration").value * 1000;
};
const results = [];
for (const shape of ["even", "skewed"]) {
  for (const way of ["canvas", "svg"]) results.push(await measure(page, cpu, way, shape));
}
const version = browser.version();
await browser.close();

const machine = {
  ...{ date: new Date().toISOString().slice(0, 10), cores: cpus().length, cpu: cpus()[0]?.model.trim() },
  ...{ memory_gib: round(totalmem() / 2 ** 30), kernel: release().split("-")[0], chromium: version, load_average: round(loadavg()[0]) },
};
const name = { canvas: "Loadwatch: one canvas", svg: "an SVG element a box, as libraries on SVG paint" };
const lines = results.map(
  (one) =>
    `| ${name[one.way]} | ${one.shape} | ${one.boxes.toLocaleString("en")} | ${one.script_ms.median} | ${one.shown_ms.median} (${one.shown_ms.most}) | ${one.cpu_ms.median} |`,
);
const text = `# A flame graph of ${NODES.toLocaleString("en")} nodes

${machine.date}, ${machine.cores} cores (${machine.cpu}), ${machine.memory_gib} GiB, Linux ${machine.kernel}, Chromium ${machine.chromium}. Load average at the end: ${machine.load_average}: the machine was ${machine.load_average > 2 ? "busy with other things, so trust the CPU time before the wall time" : "otherwise quiet"}.

\`python -m bench flame\`: from the data to pixels, layout included, ${TURNS} times each in the same browser. *even*: all nodes are in sight, 2.4 px wide; *skewed*: as real profiles are, some wide boxes with names and many that are too narrow to be seen. *Script*: until our code is done (the canvas is read back, the SVG laid out). *Shown*: until the second frame after. The server sends at most 2,000 nodes: this is ten times as many.

| painted as | shape | boxes in sight | script, ms | shown, ms: median (most) | CPU of the page's thread, ms |
| --- | --- | ---: | ---: | ---: | ---: |
${lines.join("\n")}
`;
await writeFile(here("../results/flame.json"), `${JSON.stringify({ machine, nodes: NODES, turns: TURNS, results }, null, 2)}\n`);
await writeFile(here("../results/flame.md"), text);
console.log(text);
