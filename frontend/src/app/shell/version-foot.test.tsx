import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { statusQuery } from "@/api/queries";
import { startI18n } from "@/app/i18n";
import { VersionFoot } from "./version-foot";

afterEach(cleanup);

it("keeps its line until the server has told its version, then shows that", async () => {
  await startI18n("en");
  const client = new QueryClient({ defaultOptions: { queries: { enabled: false } } });
  render(
    <QueryClientProvider client={client}>
      <VersionFoot />
    </QueryClientProvider>,
  );
  expect(screen.getByRole("contentinfo").textContent).toBe("");
  act(() => {
    client.setQueryData(statusQuery.queryKey, {
      version: "0.2.0+3f2a9c01d4be",
      now_ms: 0,
      newest_sample_ms: null,
      series: 0,
      access: "open",
      principal: null,
      not_evaluating: null,
      integrations: 0,
      undelivered: [],
    });
  });
  expect(await screen.findByText("Loadwatch 0.2.0+3f2a9c01d4be")).toBe(screen.getByRole("contentinfo"));
});
