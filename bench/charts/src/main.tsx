import { useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { charts } from "@/app/locales/charts/messages";
import { ChartSettingsProvider } from "@/charts/chart-settings";
import { chartPng } from "@/charts/export/export";
import "./page.css";
import { Ours } from "./ours";
import { PlainRecharts } from "./plain-recharts";
import { PlainUplot } from "./plain-uplot";
import { Showcase } from "./showcase";
import { Workload } from "./workload";

declare global {
  interface Window {
    bench: { update: () => boolean; longTasks: number[]; events: unknown[]; png: () => Promise<Blob> };
  }
}

const query = new URLSearchParams(location.search);
const workload = new Workload();

function Page() {
  const variant = query.get("variant") ?? "ours";
  const width = Number(query.get("width") ?? 440);
  const [frame, setFrame] = useState(() => workload.frame());
  useEffect(() => {
    // Tells whether the time axis moved.
    window.bench.update = () => {
      const before = workload.frame().range.endMs;
      const next = workload.advance();
      setFrame(next);
      return next.range.endMs !== before;
    };
  }, []);
  if (variant === "recharts") return <PlainRecharts frame={frame} width={width} />;
  if (variant === "uplot") return <PlainUplot frame={frame} width={width} />;
  const locale = query.get("lang") === "ja" ? "ja" : "en";
  return (
    <ChartSettingsProvider locale={locale} timeZone="utc" messages={charts[locale]}>
      {variant === "showcase" ? <Showcase frame={frame} locale={locale} /> : <Ours frame={frame} />}
    </ChartSettingsProvider>
  );
}

window.bench = {
  update: () => false,
  longTasks: [],
  events: [],
  png: () => chartPng("Requests", document.querySelector("figure") ?? document.body),
};
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.bench.longTasks.push(entry.duration);
}).observe({ type: "longtask" });

if (query.get("scheme") === "dark") document.documentElement.dataset.mantineColorScheme = "dark";
const root = document.getElementById("root");
if (root === null) throw new Error("index.html lacks #root");
createRoot(root).render(<Page />);
