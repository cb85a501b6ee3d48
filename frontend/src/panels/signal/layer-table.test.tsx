import { renderToStaticMarkup } from "react-dom/server";
import { I18nextProvider } from "react-i18next";
import { MemoryRouter } from "react-router";
import { beforeAll, expect, it } from "vitest";
import { i18n, startI18n } from "@/app/i18n";
import { ViewProvider } from "@/lib/view/context";
import type { PanelInfo } from "@/panels/panel-catalogue";
import { LayerTable } from "./layer-table";

beforeAll(() => startI18n("en"));

/** Text of the cells of each row. */
function table(layers: readonly string[], series: readonly Readonly<Record<string, string>>[]): string[][] {
  const panel = {
    ...{ id: "p", title: "Connections", unit: "count", help: "", stacked: true, table: true },
    signals: [{ id: "a", title: "Connections", total: "sum", unit: "count", layers, legend: "{{instance}}" }],
  } as unknown as PanelInfo;
  const answer = {
    ...{ startMs: 0, stepMs: 1000, count: 1, reduced: false, completeMs: 0 },
    results: [
      {
        ...{ signal: "a", error: null, newestMs: 0 },
        series: series.map((labels, place) => ({ name: "", labels, values: [30 - 20 * place] })),
      },
    ],
  };
  const page = renderToStaticMarkup(
    <I18nextProvider i18n={i18n}>
      <MemoryRouter>
        <ViewProvider>
          <LayerTable panel={panel} answer={answer} late={null} error={null} actions={null} />
        </ViewProvider>
      </MemoryRouter>
    </I18nextProvider>,
  );
  return [...page.matchAll(/<tr>(.*?)<\/tr>/g)].map(([, row = ""]) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/g)].map(([, cell = ""]) => cell.replace(/<[^>]*>/g, "")),
  );
}

it("names who is connected with whom, by process and peer", () => {
  const rows = table(
    ["ends"],
    [
      { instance: "app-1", ends: "app → 10.0.0.9:3306" },
      { instance: "bi-1", ends: "superset → 10.0.0.9:3306" },
    ],
  );
  expect(rows.slice(1)).toEqual([
    ["30", "75%", "app-1", "app → 10.0.0.9:3306"],
    ["10", "25%", "bi-1", "superset → 10.0.0.9:3306"],
  ]);
});

it("draws connections from host to host with each host's share", () => {
  const rows = table(
    ["to"],
    [
      { instance: "app-1", to: "db" },
      { instance: "app-2", to: "db" },
    ],
  );
  expect(rows).toEqual([
    ["From host", "→ db", "Share"],
    ["app-1", "30", "75%"],
    ["app-2", "10", "25%"],
  ]);
});
