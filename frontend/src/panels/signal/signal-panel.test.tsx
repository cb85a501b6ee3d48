import { render, screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import type { PanelInfo } from "@/panels/panel-catalogue";
import { SignalPanel, type SignalPanelProps } from "./signal-panel";

vi.mock("react-i18next", () => ({ useTranslation: () => ({ t: (key: string) => key }) }));
vi.mock("@/lib/use-locale", () => ({ useLocale: () => "en" }));
vi.mock("./use-fleet-words", () => ({ useFleetWords: () => ({}) }));
vi.mock("./panel-menu", () => ({ PanelMenu: () => null }));
vi.mock("@/charts/plot/time-series-chart", () => ({ TimeSeriesChart: () => "lines" }));
vi.mock("./delivered-panel", () => ({ DeliveredPanel: () => "stack", latenessOf: () => null, STOPPED_MS: 1 }));

it("draws parts of a whole as a stack, whether their values come late or at once", () => {
  const panel = { id: "cpu", title: "CPU", unit: "ratio", help: "", signals: [{ delivery: null }] };
  const props = { range: { startMs: 0, endMs: 1 }, error: null } as unknown as SignalPanelProps;
  const { rerender } = render(<SignalPanel {...props} panel={panel as unknown as PanelInfo} />);
  expect(screen.getByText("lines")).toBeTruthy();
  rerender(<SignalPanel {...props} panel={{ ...panel, stacked: true } as unknown as PanelInfo} />);
  expect(screen.getByText("stack")).toBeTruthy();
});
