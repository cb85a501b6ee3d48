import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import type { StoreFigures } from "@/api/store/types";
import { StoreDamage } from "./store-damage";

vi.mock("react-i18next", () => ({
  useTranslation: () => ({ t: (key: string, values?: object) => `${key} ${JSON.stringify(values ?? {})}` }),
}));
vi.mock("@/lib/use-locale", () => ({ useLocale: () => "en" }));
vi.mock("@/lib/view/context", () => ({ useView: () => ({ zone: "UTC" }) }));

afterEach(cleanup);

const loss = { table: "segments", first_ms: 1_764_000_000_000, last_ms: 1_764_003_599_000, samples: 43_200 };

function show(losses: StoreFigures["losses"]) {
  // Of the figures it reads no others.
  const store = { losses, salvage_command: "loadwatch store salvage data NEW_FILE" } as Partial<StoreFigures>;
  return render(<StoreDamage store={store as StoreFigures} />);
}

it("names table, times and the command", () => {
  show([loss, { table: "contents", first_ms: null, last_ms: null, samples: null }]);
  const alert = screen.getByRole("alert");
  expect(alert.textContent).toContain("loadwatch store salvage data NEW_FILE");
  const items = screen.getAllByRole("listitem").map((item) => item.textContent);
  expect(items).toHaveLength(2);
  expect(items[0]).toMatch(/damagedPart.*segments.*2025/);
  expect(items[1]).toMatch(/damagedNowhere.*contents.*damagedUnknown/);
});

it("says nothing where nothing is damaged", () => {
  expect(show([]).container.textContent).toBe("");
});

it("counts what it does not list", () => {
  show(Array.from({ length: 15 }, (_, hour) => ({ ...loss, first_ms: loss.first_ms + hour * 3_600_000 })));
  expect(screen.getAllByRole("listitem").at(-1)?.textContent).toContain('"more":3');
});
