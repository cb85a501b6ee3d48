import { MantineProvider } from "@mantine/core";
import { cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { I18nextProvider } from "react-i18next";
import { MemoryRouter } from "react-router";
import { afterEach, beforeAll, expect, it, vi } from "vitest";
import type { Diagnosis, Finding } from "@/api/findings/types";
import { i18n, setLanguage, startI18n } from "@/app/i18n";
import { ViewProvider } from "@/lib/view/context";
import { diagnosis, finding, headline, missing } from "@/testing/finding-fixtures";
import { DiagnosisBody } from "./diagnosis-body";
import { FindingHeadline } from "./finding-headline";

beforeAll(async () => {
  await startI18n("en");
  // What Mantine and the page ask a browser for, and jsdom has not.
  vi.stubGlobal("matchMedia", () => ({
    matches: false,
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
  }));
  Element.prototype.scrollIntoView = () => undefined;
});
afterEach(async () => {
  cleanup();
  await i18n.changeLanguage("en");
});

function show(given: Diagnosis, findings: readonly Finding[]) {
  const complete = { headline: headline(findings[0], findings.length - 1), ...given };
  return render(
    <I18nextProvider i18n={i18n}>
      <MantineProvider>
        <MemoryRouter initialEntries={["/?tz=utc"]}>
          <ViewProvider>
            <FindingHeadline diagnosis={complete} originMs={0} action={<button type="button">go</button>} />
            <DiagnosisBody diagnosis={complete} findings={findings} originMs={0} />
          </ViewProvider>
        </MemoryRouter>
      </MantineProvider>
    </I18nextProvider>,
  );
}

it("draws the chain, and each of its lines opens the finding", () => {
  show(diagnosis(), [finding("pool"), finding("timeouts", { because_of: ["pool"], from_ms: 4000 })]);
  const chain = screen.getByRole("list", { name: "Causes and what follows from them" });
  expect(chain.textContent).toContain("follows from title of pool");
  const cards = [...document.querySelectorAll("details")].slice(0, 2);
  expect(cards.map(({ open }) => open)).toEqual([false, false]);
  fireEvent.click(within(chain).getByRole("button", { name: /^title of timeouts/ }));
  expect(cards.map(({ open }) => open)).toEqual([false, true]);
});

it("draws no chain where nothing follows from anything", () => {
  show(diagnosis(), [finding("pool"), finding("disk")]);
  expect(screen.queryByRole("list", { name: /Causes/ })).toBeNull();
});

it("says the first finding with its time on the run's clock, and how many more there are", () => {
  const { container } = show(diagnosis(), [finding("pool"), finding("disk")]);
  expect(container.textContent).toContain("since 0:02 (00:00:02) · and 1 more");
});

it("writes a small chart's window and limit for those who do not see it", () => {
  show(diagnosis(), [finding("pool")]);
  expect(screen.getByLabelText("10 to 30 between 0:00 and 0:03, limit 30")).toBeTruthy();
});

it("shows the lines to paste at once where it cannot tell", () => {
  const why = { en: "40 of 100 requests failed. These collectors send nothing: dbstats.", ja: "40件が失敗。" };
  const lacking = [missing("pool", "dbstats:\n  url: here")];
  const unknown = { ...headline(), kind: "cannot-tell" as const, text: why };
  show(diagnosis({ state: "cannot-tell", headline: unknown, checked: [], missing: lacking }), []);
  expect(screen.getByText(why.en)).toBeTruthy();
  const blocks = screen.getAllByText(/url: here/);
  expect(blocks.map((block) => block.closest("details")?.open)).toEqual([undefined, false]);
});

it("says for how long what began before anybody looked has lasted", () => {
  show(diagnosis(), [finding("pool", { began_earlier: true })]);
  expect(screen.getByText(/for more than 1 h/)).toBeTruthy();
  expect(screen.queryByText(/since 0:02/)).toBeNull();
});

it("lists what could not be judged, each with why", () => {
  const unjudged = [{ id: "stall", title: { en: "Stall", ja: "停滞" }, text: { en: "Needs 20 s.", ja: "20秒必要。" } }];
  show(diagnosis({ unjudged }), []);
  expect(screen.getByText("Could not be checked (1)")).toBeTruthy();
  expect(screen.getByText("Needs 20 s.")).toBeTruthy();
});

it("speaks Japanese throughout", async () => {
  await setLanguage("ja");
  const { container } = show(diagnosis(), [finding("pool")]);
  expect(container.textContent).toContain("poolが枯渇。");
  expect(container.textContent).not.toContain("pool ran out");
});
