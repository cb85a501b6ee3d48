import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const server = "http://127.0.0.1:8000";
const fromHere = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: fromHere("."),
  plugins: [react()],
  resolve: { alias: { "@": fromHere("./src") } },
  build: {
    outDir: fromHere("../backend/loadwatch_backend/ui"),
    emptyOutDir: true,
    target: "es2022",
    // The content security policy allows no data: URIs for scripts, styles or fonts.
    assetsInlineLimit: 0,
    // Libraries change less often than the pages; apart, browsers keep them over an upgrade.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: "react", test: /node_modules[\\/](react|react-dom|react-router|scheduler)[\\/]/, priority: 2 },
            { name: "kit", test: /node_modules[\\/](@mantine|@floating-ui|dayjs)[\\/]/, priority: 1 },
            {
              name: "charts",
              test: /node_modules[\\/](recharts|victory-vendor|d3-[a-z]+|@reduxjs|immer|reselect)[\\/]/,
            },
          ],
        },
      },
    },
  },
  server: {
    proxy: {
      "/api": server,
      "/prometheus": server,
      "/alertmanager": server,
      "/metrics": server,
      "/runbooks": server,
    },
  },
  test: {
    // Browser tests of Playwright end in .spec.ts and are not vitest's. A document takes a second of CPU to make.
    projects: [
      { extends: true, test: { name: "code", environment: "node", include: ["src/**/*.test.ts"] } },
      { extends: true, test: { name: "components", environment: "jsdom", include: ["src/**/*.test.tsx"] } },
    ],
    restoreMocks: true,
    // A busy machine is slow; no test is about time.
    testTimeout: 30_000,
    // Two processes leave room on a machine with two cores.
    maxWorkers: 2,
  },
});
