import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider, queryOptions } from "@tanstack/react-query";
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ApiError } from "@/api/client";
import { ClockJump, StoreSection } from "./store-section";

const asked = vi.hoisted(() => ({ error: new Error() as Error }));

vi.mock("react-i18next", () => ({ useTranslation: () => ({ t: (key: string) => key }) }));
vi.mock("@/lib/use-locale", () => ({ useLocale: () => "en" }));
vi.mock("@/api/store/queries", () => ({
  storeQuery: queryOptions({ queryKey: ["store"], queryFn: () => Promise.reject(asked.error), retry: false }),
}));

beforeEach(() => {
  // Mantine asks for the scheme of the system.
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: vi.fn(), removeEventListener: vi.fn() }));
});

afterEach(cleanup);

function open(error: Error) {
  asked.error = error;
  render(
    <MantineProvider>
      <QueryClientProvider client={new QueryClient()}>
        <StoreSection />
      </QueryClientProvider>
    </MantineProvider>,
  );
}

it("says that another engine has the samples, and their retention", async () => {
  open(new ApiError(404, "no-store-figures", "the samples are in another engine"));
  expect((await screen.findByText("store.elsewhere")).tagName).toBe("P");
  expect(screen.queryByRole("alert")).toBeNull();
});

it("says that the figures cannot be read where that is so", async () => {
  open(new ApiError(503, "store-read-failed", "the disk"));
  expect((await screen.findByRole("alert")).textContent).toContain("store.failed");
});

it("says that nothing is deleted while a clock that jumped is not believed", () => {
  const shown = (jumpMs: number) => render(<ClockJump jumpMs={jumpMs} />).container.textContent;
  expect(shown(0)).toBe("");
  expect(shown(20 * 86_400_000)).toContain("store.jumpedAhead");
  expect(shown(-86_400_000)).toContain("store.jumpedBehind");
});
