import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderToStaticMarkup } from "react-dom/server";
import { MemoryRouter } from "react-router";
import { expect, it } from "vitest";
import { runPercentilesQuery } from "@/api/runs/queries";
import type { Run, RunPercentiles } from "@/api/runs/types";
import { EndpointTable } from "./endpoint-table";

const latency = { min: 0.01, mean: 0.02, p50: 0.02, p90: 0.03, p95: 0.04, p99: 0.05, max: 0.06 };
const endpoint = { name: "GET /a", requests: 10, rate: 1, success_ratio: 1, outcomes: {}, latency_seconds: latency };
const run = { id: "a1-1", endpoints: [endpoint], endpoints_window: "steady" } as unknown as Run;

function drawn(found: RunPercentiles): string {
  const client = new QueryClient();
  client.setQueryData(runPercentilesQuery("a1-1", ["p70"]).queryKey, found);
  return renderToStaticMarkup(
    <MantineProvider>
      <QueryClientProvider client={client}>
        <MemoryRouter initialEntries={["/runs/a1-1?percentile=p70"]}>
          <EndpointTable run={run} />
        </MemoryRouter>
      </QueryClientProvider>
    </MantineProvider>,
  );
}

const named = { percentiles: [{ name: "p70", steady: null, whole: null }], detail: "" };

it("puts a percentile that the address adds between its neighbours", () => {
  const page = drawn({ ...named, endpoints: [{ name: "GET /a", seconds: [0.033] }], endpoints_detail: "" });
  const cells = [...page.matchAll(/<td[^>]*>([^<]*)<\/td>/g)].map((match) => match[1]);
  expect(cells.slice(4)).toEqual(["20 ms", "20 ms", "33 ms", "40 ms", "50 ms", "60 ms", "200 ms"]);
  expect(page).toMatch(/>p70</);
});

it("says why there is none where single requests are not kept", () => {
  const page = drawn({ ...named, endpoints: [], endpoints_detail: "not-kept" });
  expect(page).toContain("percentiles.endpointsNotKept");
  expect(page).toContain("–");
});
