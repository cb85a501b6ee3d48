import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { I18nextProvider } from "react-i18next";
import { MemoryRouter, useLocation } from "react-router";
import { afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { meetingQuery } from "@/api/compare/queries";
import { i18n, startI18n } from "@/app/i18n";
import { ViewProvider } from "@/lib/view/context";
import { MeetingPage } from "./meeting-page";

beforeAll(() => startI18n("en"));

beforeEach(() => {
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: vi.fn(), removeEventListener: vi.fn() }));
  // No run is there yet.
  vi.stubGlobal("fetch", () => new Promise(() => undefined));
});

afterEach(cleanup);

const Nothing = () => null;

function open(path: string) {
  const client = new QueryClient();
  client.setQueryData(meetingQuery.queryKey, {
    since_ms: null,
    runs: ["r1", "r2", "r3", "r4", "r5"],
    scenarios: ["a", "b", "a", "b", "a"],
  });
  render(
    <MantineProvider>
      <I18nextProvider i18n={i18n}>
        <QueryClientProvider client={client}>
          <MemoryRouter initialEntries={[path]}>
            <ViewProvider>
              <MeetingPage parts={{ Review: Nothing, SavedReview: Nothing, Limits: Nothing }} />
              <Address />
            </ViewProvider>
          </MemoryRouter>
        </QueryClientProvider>
      </I18nextProvider>
    </MantineProvider>,
  );
}

function Address() {
  return <output aria-label="address">{new URLSearchParams(useLocation().search).get("run")}</output>;
}

/** Faster than the page is drawn. */
function press(...keys: readonly string[]) {
  act(() => {
    for (const key of keys) fireEvent.keyDown(document.body, { key });
  });
}

it("counts each key that is pressed before the next screen is drawn", () => {
  open("/");
  press("ArrowRight", "ArrowRight", "PageDown");
  expect(screen.getByRole("status", { name: "address" }).textContent).toBe("r4");
  press("ArrowLeft", "PageUp");
  expect(screen.getByRole("status", { name: "address" }).textContent).toBe("r2");
});

it("knows the runs of a scenario before any of them is loaded", () => {
  open("/?scenario=a");
  press("ArrowRight");
  expect(screen.getByRole("status", { name: "address" }).textContent).toBe("r3");
  expect(screen.getByRole("option", { name: "a (3)" })).toBeDefined();
  press("ArrowRight");
  expect(screen.getByRole("status", { name: "address" }).textContent).toBe("r5");
});
