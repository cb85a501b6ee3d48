/** Pictures of every look of a chart: both schemes, both languages, wide and narrow. `node shots.mjs FOLDER` */
import { mkdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };
const folder = process.argv[2] ?? "shots";
await mkdir(folder, { recursive: true });
const server = createServer(async (request, response) => {
  const path = new URL(request.url, "http://host").pathname;
  const body = await readFile(join(HERE, "dist", path === "/" ? "index.html" : path)).catch(() => null);
  response.writeHead(body === null ? 404 : 200, { "content-type": TYPES[extname(path)] ?? "text/html" });
  response.end(body ?? "");
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
  ],
});
try {
  for (const [scheme, lang, width] of [
    ["light", "en", 1440],
    ["dark", "ja", 1440],
    ["dark", "en", 390],
    ["light", "ja", 390],
  ]) {
    const page = await browser.newPage({ viewport: { width, height: width < 500 ? 2700 : 1060 } });
    page.on("pageerror", (error) => console.log("pageerror", String(error)));
    page.on("console", (line) => console.log("console", line.text()));
    await page.goto(`http://127.0.0.1:${server.address().port}/?variant=showcase&scheme=${scheme}&lang=${lang}`);
    await page.waitForSelector("path.lw-line");
    await page.waitForTimeout(800);
    const box = await page.locator(".lw-surface").first().boundingBox();
    await page.mouse.move(box.x + box.width * 0.31, box.y + 60);
    await page.waitForTimeout(200);
    await page.screenshot({ path: join(folder, `${scheme}-${lang}-${width}.png`) });
    await page.close();
  }
} finally {
  await browser.close();
  server.close();
}
