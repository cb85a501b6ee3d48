import { MantineProvider } from "@mantine/core";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { CpuCosts } from "./cpu-costs";

it("shows the CPU time of each request with its interval, and names what cannot be told", () => {
  const page = renderToStaticMarkup(
    <MantineProvider>
      <CpuCosts
        cpu={[
          {
            job: "app",
            seconds: 90,
            routes: [
              {
                routes: ["POST /register"],
                basis: "fitted",
                each: { value: 0.06, low: 0.058, high: 0.062 },
                share: 0.8,
              },
              {
                routes: ["GET /a", "GET /b"],
                basis: "together",
                each: { value: 0.002, low: 0.001, high: 0.003 },
                share: 0.1,
              },
            ],
            untold: ["GET /health"],
          },
        ]}
      />
    </MantineProvider>,
  );
  expect(page).toContain("60 ms");
  expect(page).toContain("58 ms");
  expect(page).toContain("80%");
  expect(page).toContain("GET /a + GET /b");
  expect(page).toContain("cost.cpuUntold");
});
