import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeAll, expect, it, vi } from "vitest";
import { useChartKeys } from "./use-chart-keys";

const scrolled = vi.fn();
beforeAll(() => {
  // jsdom lays nothing out and knows no scrolling.
  Element.prototype.scrollIntoView = scrolled;
});
afterEach(cleanup);

function Chart({ name, ready = true }: { name: string; ready?: boolean }) {
  return (
    <article>
      <button type="button">{`menu of ${name}`}</button>
      <div className="lw-surface" role="application" aria-label={name} tabIndex={ready ? 0 : -1} />
    </article>
  );
}
function Page({ dialog = false }: { dialog?: boolean }) {
  useChartKeys();
  return (
    <>
      <Chart name="rate" />
      <Chart name="empty" ready={false} />
      <Chart name="latency" />
      {dialog && (
        <div role="dialog">
          <Chart name="alone" />
        </div>
      )}
    </>
  );
}
const press = (key: string) => fireEvent.keyDown(document.activeElement ?? document.body, { key });
const held = () => document.activeElement?.getAttribute("aria-label");

it("goes from chart to chart, past those without data, and stays at the ends", () => {
  render(<Page />);
  press("]");
  expect(held()).toBe("rate");
  press("]");
  expect(held()).toBe("latency");
  press("]");
  expect(held()).toBe("latency");
  press("[");
  press("[");
  expect(held()).toBe("rate");
  expect(scrolled).toHaveBeenCalledTimes(5);
});

it("goes on from what has the focus in a chart's card", () => {
  render(<Page />);
  screen.getByRole("button", { name: "menu of rate" }).focus();
  press("]");
  expect(held()).toBe("latency");
});

it("stays within a dialog", () => {
  render(<Page dialog />);
  press("[");
  expect(held()).toBe("alone");
});
