import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderToStaticMarkup } from "react-dom/server";
import { MemoryRouter } from "react-router";
import { expect, it } from "vitest";
import type { Run } from "@/api/runs/types";
import { Summary } from "./summary";

const latency = { min: 0.142, mean: 0.5, p50: 0.4, p90: 0.9, p95: 1, p99: 2, max: 3.264 };
const run = {
  id: "a1-1",
  state: "finished",
  requests: 10,
  rate: 1,
  success_ratio: 1,
  outcomes: { ok: 10 },
  status_codes: {},
  latency_seconds: latency,
  bytes_in: null,
  bytes_out: null,
  baseline: null,
  steady_window: null,
  steady: null,
} as unknown as Run;

it("shows the fastest and the slowest answer among the first figures", () => {
  const page = renderToStaticMarkup(
    <MantineProvider>
      <QueryClientProvider client={new QueryClient()}>
        <MemoryRouter>
          <Summary run={run} />
        </MemoryRouter>
      </QueryClientProvider>
    </MantineProvider>,
  );
  const rows = [...page.matchAll(/<th scope="row">([^<]*)<\/th><td[^>]*>([^<]*)/g)].map(([, name, value]) => [
    name,
    value,
  ]);
  expect(rows).toContainEqual(["runs.page.figure_min", "142 ms"]);
  expect(rows).toContainEqual(["runs.page.figure_max", "3.26 s"]);
  expect(page).toContain("runs.page.allFigures");
});
