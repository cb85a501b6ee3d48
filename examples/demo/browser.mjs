// Chromium as the pictures need it: no network of its own, the page's own Playwright.
import { createRequire } from "node:module";

const { chromium } = createRequire(new URL("../../frontend/package.json", import.meta.url))("@playwright/test");

export function openBrowser() {
  return chromium.launch({
    executablePath: process.env.LOADWATCH_CHROMIUM ?? "/usr/bin/chromium",
    args: [
      ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"],
      ...["--disable-background-networking", "--disable-component-update"],
    ],
  });
}
