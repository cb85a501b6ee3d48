import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const fromHere = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: fromHere("."),
  plugins: [react()],
  resolve: { alias: { "@": fromHere("../../frontend/src") } },
  build: { outDir: fromHere("./dist"), emptyOutDir: true, target: "es2022", chunkSizeWarningLimit: 900 },
});
