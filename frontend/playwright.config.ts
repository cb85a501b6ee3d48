import { defineConfig } from "@playwright/test";

export default defineConfig({
  testDir: "e2e",
  testMatch: "*.spec.ts",
  globalSetup: "./e2e/start-system.ts",
  // One server, one agent, two cores: the tests run one after the other.
  workers: 1,
  timeout: 120_000,
  expect: { timeout: 30_000 },
  reporter: [["list"]],
  outputDir: "test-results",
  use: {
    viewport: { width: 1280, height: 860 },
    locale: "en-GB",
    colorScheme: "light",
    launchOptions: {
      executablePath: process.env.LOADWATCH_CHROMIUM ?? "/usr/bin/chromium",
      args: [
        ...["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-quic", "--disable-sync"],
        ...["--disable-background-networking", "--disable-component-update"],
      ],
    },
    screenshot: "only-on-failure",
  },
});
