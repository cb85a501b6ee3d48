import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, renderHook } from "@testing-library/react";
import type { ReactNode } from "react";
import { MemoryRouter, useSearchParams } from "react-router";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { useRouteQuestion } from "./use-route-question";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("labels that are picked are not replaced by what was typed just before", () => {
  const client = new QueryClient({ defaultOptions: { queries: { enabled: false } } });
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={client}>
      <MemoryRouter>{children}</MemoryRouter>
    </QueryClientProvider>
  );
  vi.stubGlobal("fetch", () => new Promise(() => {}));
  const { result } = renderHook(
    () => ({ question: useRouteQuestion(), labels: useSearchParams()[0].getAll("label") }),
    {
      wrapper,
    },
  );
  act(() => result.current.question.type("nonsense"));
  act(() => result.current.question.pick({ team: "database" }));
  act(() => void vi.advanceTimersByTime(1000));
  expect(result.current.question.text).toBe("team=database");
  expect(result.current.labels).toEqual(["team=database"]);
});
