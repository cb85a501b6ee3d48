import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "@/app/app";
import { startI18n } from "@/app/i18n";
import { shareStyleNonce } from "@/lib/style-nonce";

shareStyleNonce();
await startI18n();
const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no element #root");
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
