import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { afterEach, expect, it, vi } from "vitest";
import { charts } from "@/app/locales/charts/messages";
import { ChartSettingsProvider } from "@/charts/chart-settings";
import { XyChart, type XyChartProps } from "./xy-chart";
import type { XyPoint } from "./xy-types";

const points: readonly XyPoint[] = [
  { id: "10", x: 10, y: 900, low: 880, high: 920, label: "pool 10" },
  { id: "20", x: 20, y: 1700, low: 1600, high: 1800, label: "pool 20", look: "bad" },
  { id: "40", x: 40, y: null, label: "pool 40" },
];

function Held(props: Partial<XyChartProps>) {
  const [active, setActive] = useState<string | null>(null);
  return (
    <ChartSettingsProvider locale="en" timeZone="utc" messages={charts.en}>
      <XyChart
        title="Rate"
        unit="per_second"
        points={points}
        ticks={points.map(({ x }) => ({ value: x, label: String(x) }))}
        marks={[{ id: "best", x: 20, label: "best", tone: "best" }]}
        active={active}
        onActive={setActive}
        {...props}
      />
    </ChartSettingsProvider>
  );
}

afterEach(cleanup);

it("draws points that have a value, with error bars, marks and labels at the values", () => {
  const { container } = render(<Held />);
  expect([...container.querySelectorAll("[data-point]")].map((one) => one.getAttribute("data-point"))).toEqual([
    "10",
    "20",
  ]);
  expect(container.querySelectorAll(".lw-xy-error")).toHaveLength(2);
  expect(container.querySelectorAll(".lw-xy-cross")).toHaveLength(1);
  expect(container.querySelector(".lw-xy-mark text")?.textContent).toBe("best");
  const ticks = [...container.querySelectorAll(".lw-tick")].map((one) => one.textContent);
  expect(ticks).toEqual(expect.arrayContaining(["10", "20", "40", "1,000"]));
});

it("draws a second figure on an axis of its own, and reads both out", () => {
  const second = {
    ...{ title: "p95", unit: "seconds" as const },
    points: points.map((point) => ({ ...point, y: 0.2, low: 0.1, high: 0.3 })),
  };
  const { container } = render(<Held second={second} />);
  expect(container.querySelectorAll("[data-point='20']")).toHaveLength(2);
  expect([...container.querySelectorAll(".lw-tick")].map((one) => one.textContent)).toContain("300 ms");
  fireEvent.keyDown(screen.getByRole("application"), { key: "End" });
  expect(container.querySelector("[aria-live]")?.textContent).toContain("p95 200 ms (100 ms … 300 ms)");
  expect(container.querySelector(".lw-xy-tip")?.textContent).toContain("p95 200 ms");
});

it("is read by keys and opens with Enter", () => {
  const onPick = vi.fn();
  const { container } = render(<Held onPick={onPick} />);
  const surface = screen.getByRole("application");
  fireEvent.keyDown(surface, { key: "End" });
  expect(container.querySelector("[aria-live]")?.textContent).toBe("pool 20, 1,700/s, 1,600/s … 1,800/s");
  expect(container.querySelector(".lw-xy-tip")?.textContent).toContain("pool 20");
  fireEvent.keyDown(surface, { key: "ArrowLeft" });
  fireEvent.keyDown(surface, { key: "Enter" });
  expect(onPick).toHaveBeenCalledWith("10");
  fireEvent.keyDown(surface, { key: "Escape" });
  expect(container.querySelector(".lw-xy-tip")).toBeNull();
});
