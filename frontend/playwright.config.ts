import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "@playwright/test";

const TESTS = join(import.meta.dirname, "e2e");
const files = readdirSync(TESTS).filter((name) => name.endsWith(".spec.ts"));
const owners = files.filter((name) => readFileSync(join(TESTS, name), "utf8").includes("OWN_SERVER"));

export default defineConfig({
  testDir: "e2e",
  // A project's workers end with it: while tests with servers of their own run, no other server takes time.
  projects: [
    { name: "watched host", testMatch: files.filter((name) => !owners.includes(name)) },
    { name: "own server", testMatch: owners },
  ],
  // Each with a server and an agent of its own; tests of one file run one after the other, and wait about half the time.
  workers: 3,
  // Against what never comes; no test is about time, and a machine that is busy may take many times as long.
  timeout: 900_000,
  expect: { timeout: 180_000 },
  reporter: [["list"]],
  outputDir: "test-results",
  use: {
    viewport: { width: 1280, height: 860 },
    locale: "en-GB",
    colorScheme: "light",
    launchOptions: {
      // Chromium without the browser's own windows, as Playwright's: a test takes half the CPU.
      executablePath: process.env.LOADWATCH_CHROMIUM ?? "/usr/lib/chromium/chromium-headless-shell",
      args: [
        ...["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-quic", "--disable-sync"],
        ...["--disable-background-networking", "--disable-component-update"],
      ],
    },
    screenshot: "only-on-failure",
  },
});
