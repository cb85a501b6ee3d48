import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider, queryOptions } from "@tanstack/react-query";
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ApiError } from "@/api/client";
import { StorePage } from "./store-page";

const asked = vi.hoisted(() => ({ error: new Error() as Error }));

vi.mock("react-i18next", () => ({ useTranslation: () => ({ t: (key: string) => key }) }));
vi.mock("@/ui/page/page-head", () => ({ PageHead: ({ title }: { title: string }) => <h1>{title}</h1> }));
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
        <StorePage />
      </QueryClientProvider>
    </MantineProvider>,
  );
}

it("says that another engine has the samples, and their retention", async () => {
  open(new ApiError(404, "no-store-figures", "the samples are in another engine"));
  expect((await screen.findByText("store.elsewhereHint")).tagName).toBe("P");
  expect(screen.queryByRole("alert")).toBeNull();
});

it("says that the figures cannot be read where that is so", async () => {
  open(new ApiError(503, "store-read-failed", "the disk"));
  expect((await screen.findByRole("alert")).textContent).toContain("store.failed");
});
