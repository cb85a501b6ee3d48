import { MantineProvider } from "@mantine/core";
import { renderToStaticMarkup } from "react-dom/server";
import { I18nextProvider } from "react-i18next";
import { MemoryRouter } from "react-router";
import { beforeAll, expect, it } from "vitest";
import type { Run } from "@/api/runs/types";
import { i18n, startI18n } from "@/app/i18n";
import { ViewProvider } from "@/lib/view/context";
import { Reconciled } from "./reconciled";

beforeAll(() => startI18n("en"));

const instance = (name: string, accepted: number, stored: number) => ({
  job: "app",
  instance: name,
  accepted,
  stored,
  failed: null,
  missing: accepted - stored,
});

it("names the instance that stores less than it accepts", () => {
  const reconciliation = {
    steps: [],
    place: "none",
    detail: "",
    instances: [instance("a", 3000, 3000), instance("b", 1800, 1200)],
  };
  const page = renderToStaticMarkup(
    <MantineProvider>
      <I18nextProvider i18n={i18n}>
        <MemoryRouter>
          <ViewProvider>
            <Reconciled run={{ id: "a1-1", reconciliation } as unknown as Run} />
          </ViewProvider>
        </MemoryRouter>
      </I18nextProvider>
    </MantineProvider>,
  );
  const rows = [...page.matchAll(/<tr>(.*?)<\/tr>/g)].map(([, row]) =>
    [...(row ?? "").matchAll(/<t[hd][^>]*>([^<]*)</g)].map(([, cell]) => cell),
  );
  expect(rows.slice(1)).toEqual([
    ["a", "3,000", "3,000", "0"],
    ["b", "1,800", "1,200", "600"],
  ]);
});
