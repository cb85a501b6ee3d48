// Types a letter into the empty editor of the page Explore, again and again, and prints for each time the milliseconds
// from the key until the list of completions is there.
// Usage: node bench/explore.mjs URL REPEATS LETTER ...
import { chromium } from "@playwright/test";

const [url, repeats, ...letters] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
await page.goto(`${url}/explore`);
await page.getByRole("region", { name: "Metrics" }).getByRole("row").nth(1).waitFor();
const editor = page.getByRole("textbox", { name: /^PromQL/ });
page.setDefaultTimeout(20_000);
const taken = [];
for (let time = 0; time < Number(repeats); time++) {
  await editor.focus();
  // In the page, so that the way to the browser is not counted: from the key to the frame that has the list.
  await page.evaluate(() => {
    window.taken = new Promise((resolve) => {
      const look = (begun) =>
        document.querySelector(".cm-tooltip-autocomplete [role=option]")
          ? resolve(performance.now() - begun)
          : requestAnimationFrame(() => look(begun));
      addEventListener("keydown", ({ timeStamp }) => look(timeStamp), { once: true, capture: true });
    });
  });
  await page.keyboard.press(letters[time % letters.length]);
  taken.push(await page.evaluate(() => window.taken));
  await page.keyboard.press("Control+A");
  await page.keyboard.press("Delete");
  await page.locator(".cm-tooltip-autocomplete").waitFor({ state: "detached" });
}
await browser.close();
console.log(JSON.stringify(taken));
