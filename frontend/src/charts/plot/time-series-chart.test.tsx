import { cleanup, configure, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { charts } from "@/app/locales/charts/messages";
import { ChartSettingsProvider } from "@/charts/chart-settings";
import { TimeSeriesChart, type TimeSeriesChartProps } from "./time-series-chart";

// Charts draw in tasks of their own, which a busy machine runs late.
configure({ asyncUtilTimeout: 10_000 });

const start = Date.UTC(2026, 10, 21, 10, 0, 0);
const base: TimeSeriesChartProps = {
  title: "Requests",
  unit: "per_second",
  range: { startMs: start, endMs: start + 60_000 },
  grid: { startMs: start, stepMs: 1000, count: 50 },
  series: [
    { id: "sent", name: "sent", values: Array.from({ length: 50 }, (_, i) => 100 + i) },
    { id: "stored", name: "stored", values: Array.from({ length: 50 }, (_, i) => (i === 20 ? null : 90 + i)) },
  ],
};

function chart(props: Partial<TimeSeriesChartProps> = {}, locale: "en" | "ja" = "en") {
  return (
    <ChartSettingsProvider locale={locale} timeZone="utc" messages={charts[locale]}>
      <TimeSeriesChart {...base} {...props} />
    </ChartSettingsProvider>
  );
}

const lines = (root: Element) => [...root.querySelectorAll<SVGPathElement>("path.lw-line")];
const surface = () => screen.getByRole("application");

afterEach(cleanup);

describe("TimeSeriesChart", () => {
  it("draws one path a series, with a gap where a value is missing, and round ticks", async () => {
    const { container } = render(chart());
    await waitFor(() => expect(lines(container).length).toBe(2));
    const [sent, stored] = lines(container).map((path) => path.getAttribute("d") ?? "");
    expect(sent?.match(/M/g)).toHaveLength(1);
    expect(stored?.match(/M/g)).toHaveLength(2);
    const ticks = [...container.querySelectorAll(".lw-tick")].map((tick) => tick.textContent);
    expect(ticks).toContain("10:00:10");
    expect(ticks).toContain("150");
  });

  it("says beside its unit what its points are means of", async () => {
    render(chart({ meanMs: 60_000 }));
    await waitFor(() => expect(screen.getByText(/means of 1 min/)).toBeTruthy());
    cleanup();
    render(chart({ meanMs: 60_000 }, "ja"));
    await waitFor(() => expect(screen.getByText(/1分ごとの平均/)).toBeTruthy());
    cleanup();
    render(chart());
    await waitFor(() => expect(screen.queryByText(/means of/)).toBeNull());
  });

  it("gives no last value to a series that ended while others went on", async () => {
    const values = Array.from({ length: 50 }, (_, i) => (i < 25 ? 246 : null));
    const { container } = render(chart({ series: [...base.series, { id: "failed", name: "failed", values }] }));
    await waitFor(() => expect(lines(container).length).toBe(3));
    const shown = [...container.querySelectorAll(".lw-legend li")].map((item) => item.textContent);
    expect(shown[0]).toMatch(/^sent149/);
    expect(shown[2]).toBe("failed–");
  });

  it("keeps axes still while data moves and adds the new points to the path", async () => {
    const { container, rerender } = render(chart());
    await waitFor(() => expect(lines(container).length).toBe(2));
    const before = lines(container)[0]?.getAttribute("d") ?? "";
    const tick = container.querySelector(".lw-tick");
    const series = base.series.map((one) => ({ ...one, values: [...one.values, 140] }));
    rerender(chart({ series, grid: { ...base.grid, count: 51 }, range: { ...base.range } }));
    await waitFor(() => expect(lines(container)[0]?.getAttribute("d")).not.toBe(before));
    expect(lines(container)[0]?.getAttribute("d")?.startsWith(before)).toBe(true);
    expect(container.querySelector(".lw-tick") === tick).toBe(true);
  });

  it("says by keys what the chart shows, and hands the chosen time on", async () => {
    const onInstant = vi.fn();
    const onZoom = vi.fn();
    const { container } = render(chart({ onInstant, onZoom }));
    await waitFor(() => expect(lines(container).length).toBe(2));
    fireEvent.keyDown(surface(), { key: "End" });
    fireEvent.keyDown(surface(), { key: "ArrowLeft", shiftKey: true });
    const live = container.querySelector("[data-live]");
    await waitFor(() => expect(live?.textContent).toBe("21 Nov 2026, 10:00:39 UTC, sent 139/s, stored 129/s"));
    fireEvent.keyDown(surface(), { key: "Enter" });
    expect(onInstant.mock.calls[0]?.[0]).toBe(start + 39_000);
    fireEvent.keyDown(surface(), { key: " " });
    fireEvent.keyDown(surface(), { key: "ArrowRight", shiftKey: true });
    fireEvent.keyDown(surface(), { key: "Enter" });
    expect(onZoom).toHaveBeenCalledWith({ startMs: start + 39_000, endMs: start + 49_000 });
  });

  it("isolates a series by a click on the legend and toggles with Shift", async () => {
    const { container } = render(chart());
    await waitFor(() => expect(lines(container).length).toBe(2));
    const sent = screen.getByRole("button", { name: "sent" });
    fireEvent.click(sent);
    await waitFor(() => expect(lines(container).map((line) => line.dataset.series)).toEqual(["sent"]));
    fireEvent.click(screen.getByRole("button", { name: "stored" }), { shiftKey: true });
    await waitFor(() => expect(lines(container).length).toBe(2));
    expect(sent.getAttribute("aria-pressed")).toBe("true");
  });

  it("names few series beside the ends of their lines, one in the title line, and many below", async () => {
    const { container, rerender } = render(chart());
    const list = () => container.querySelector<HTMLElement>(".lw-legend");
    await waitFor(() => expect(list()?.dataset.place).toBe("ends"));
    await waitFor(() => expect(list()?.querySelector("li")?.style.translate).toMatch(/px$/));
    expect(container.querySelector(".lw-body > .lw-legend")).not.toBeNull();
    rerender(chart({ series: base.series.slice(0, 1) }));
    await waitFor(() => expect(container.querySelector(".lw-head > .lw-legend")).not.toBeNull());
    expect(screen.getByRole("button", { name: "sent" }).getAttribute("aria-pressed")).toBe("true");
    const many = ["a", "b", "c", "d", "e", "f"].map((id) => ({ id, name: id, values: base.series[0]?.values ?? [] }));
    rerender(chart({ series: many }));
    await waitFor(() => expect(list()?.dataset.place).toBe("below"));
  });

  it("says once what all names share", async () => {
    const series = base.series.map((one) => ({ ...one, name: `${one.name} · web-1` }));
    const { container } = render(chart({ series }));
    await waitFor(() => screen.getByText(/^per second · web-1$/));
    expect([...container.querySelectorAll(".lw-legend-name")].map((name) => name.textContent)).toEqual([
      "sent",
      "stored",
    ]);
    screen.getByRole("button", { name: "sent · web-1" });
  });

  it("shows loading, empty, error and stale states in the same box", async () => {
    const none = { series: [], grid: { ...base.grid, count: 0 } };
    const { rerender, container } = render(chart({ ...none, loading: true }));
    expect(screen.getByRole("status").textContent).toBe("Loading");
    const height = container.querySelector<HTMLElement>(".lw-body")?.style.height;
    rerender(chart({ ...none, emptyHint: "Start the agent" }));
    await waitFor(() => screen.getByText("No data in this range"));
    screen.getByText("Start the agent");
    rerender(chart({ ...none, error: "query timed out" }));
    await waitFor(() => expect(screen.getByRole("alert").textContent).toContain("query timed out"));
    expect(container.querySelector<HTMLElement>(".lw-body")?.style.height).toBe(height);
    rerender(chart({ nowMs: start + 58_000, staleAfterMs: 5000 }));
    await waitFor(() => screen.getByText("Last sample 9 s ago"));
    await waitFor(() => expect(container.querySelector(".lw-stale")?.getAttribute("visibility")).toBe("visible"));
  });

  it.each([
    ["spans the whole zoom", -60_000, 120_000],
    ["ran on, and spans the whole zoom", -60_000, null],
    ["begins within it", 5000, 120_000],
    ["ends within it", -60_000, 55_000],
    ["lies within it", 5000, 55_000],
  ])("fills the plot behind a run, and names it at the top, when the run %s", async (_, from, to) => {
    const endMs = to === null ? null : start + to;
    const bands = [{ id: "1", label: "run 1", startMs: start + from, endMs }];
    const { container } = render(chart({ bands }));
    await waitFor(() => expect(container.querySelector(".lw-band-label")).not.toBeNull());
    const label = container.querySelector(".lw-band-label");
    const grid = [...container.querySelectorAll(".recharts-cartesian-grid line")];
    const tops = grid.map((line) => Math.min(Number(line.getAttribute("y1")), Number(line.getAttribute("y2"))));
    const lefts = grid.map((line) => Math.min(Number(line.getAttribute("x1")), Number(line.getAttribute("x2"))));
    const feet = grid.map((line) => Math.max(Number(line.getAttribute("y1")), Number(line.getAttribute("y2"))));
    const ground = container.querySelector(".lw-band .recharts-reference-area-rect");
    expect(Number(ground?.getAttribute("height"))).toBeCloseTo(Math.max(...feet) - Math.min(...tops));
    expect(Number(label?.getAttribute("y"))).toBeCloseTo(Math.min(...tops) + 12);
    expect(Number(label?.getAttribute("x"))).toBeGreaterThan(Math.min(...lefts));
  });

  it("keeps the label of a low limit off the time axis", async () => {
    const limits = [
      { id: "low", label: "low", value: 1 },
      { id: "high", label: "high", value: 140 },
    ];
    const { container } = render(chart({ limits }));
    await waitFor(() => expect(container.querySelectorAll(".lw-limit-label")).toHaveLength(2));
    const grid = [...container.querySelectorAll(".recharts-cartesian-grid line")];
    const foot = Math.max(...grid.map((line) => Number(line.getAttribute("y2"))));
    for (const name of [/^low/, /^high/]) expect(Number(screen.getByText(name).getAttribute("y"))).toBeLessThan(foot);
  });

  it("speaks Japanese", async () => {
    render(chart({ series: [], grid: { ...base.grid, count: 0 } }, "ja"));
    await waitFor(() => screen.getByText("この期間のデータはありません"));
    expect(screen.getByRole("figure").getAttribute("aria-label")).toBe("Requests、単位 毎秒、0系列");
  });
});
