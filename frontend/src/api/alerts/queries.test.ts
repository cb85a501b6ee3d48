// @vitest-environment jsdom
import { QueryClient } from "@tanstack/react-query";
import { afterEach, expect, it, vi } from "vitest";
import { HOUR } from "@/lib/time/time";
import { historySpanQuery } from "./queries";

afterEach(() => vi.unstubAllGlobals());

it.each([
  [0.5, "1h"],
  [3, "6h"],
  [20, "24h"],
  [40, "7d"],
])("an alert of %d h ago opens the history at %s", async (hours, span) => {
  const fired = Date.now() - hours * HOUR;
  vi.stubGlobal("fetch", async (request: Request) => {
    const start = Number(new URL(request.url).searchParams.get("start_ms"));
    const alerts = start <= fired ? [{ id: "a" }] : [];
    return Response.json({ alerts, more: false });
  });
  expect(await new QueryClient().fetchQuery(historySpanQuery())).toBe(span);
});
