// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { charts } from "@/app/locales/charts/messages";
import { CrosshairGroup } from "@/charts/crosshair-group";
import { attachInteraction } from "./plot-interaction";
import { PlotModel } from "./plot-model";

const START = 1_000_000;
const SVG = "http://www.w3.org/2000/svg";

function makeChart(group: CrosshairGroup, callbacks = {}) {
  const part = () => document.body.appendChild(document.createElement("div"));
  const overlay = { surface: part(), crosshair: part(), selection: part(), live: part() };
  const group4 = () => document.createElementNS(SVG, "g");
  const model = new PlotModel();
  model.attachSvg({ areas: group4(), lines: group4(), dots: group4(), stale: group4(), late: group4() });
  model.attachOverlay(overlay, group);
  const values = Array.from({ length: 101 }, (_, index) => index);
  const series = [{ id: "a", name: "a", values }];
  model.setView({
    grid: { startMs: START, stepMs: 1000, count: 101 },
    reduced: false,
    series,
    layers: series.map((one) => ({ series: one, tops: one.values, bases: null })),
    slots: new Map(),
    ...{ bands: [], notes: [], staleAfterMs: null, nowMs: null, late: null },
    text: { title: "T", unit: "count", locale: "en", timeZone: "utc", axis: "time", messages: charts.en },
  });
  // A pixel is 100 ms wide; jsdom puts every element at the window's origin.
  model.setGeometry({
    ...{ x: 0, y: 0, width: 1000, height: 100 },
    range: { startMs: START, endMs: START + 100_000 },
    domain: { min: 0, max: 100 },
  });
  attachInteraction(overlay.surface, model, group, () => callbacks);
  return { model, ...overlay };
}

function pointer(target: Element, type: string, clientX: number, more: PointerEventInit = {}) {
  const options = { clientX, clientY: 5, button: 0, pointerId: 1, pointerType: "mouse", bubbles: true, ...more };
  target.dispatchEvent(new PointerEvent(type, options));
}

const nextFrame = () => new Promise((done) => requestAnimationFrame(() => done(undefined)));

describe("pointer on a plot", () => {
  let onZoom: ReturnType<typeof vi.fn>;
  let onInstant: ReturnType<typeof vi.fn>;
  let onZoomOut: ReturnType<typeof vi.fn>;
  let group: CrosshairGroup;

  beforeEach(() => {
    [onZoom, onInstant, onZoomOut] = [vi.fn(), vi.fn(), vi.fn()];
    group = new CrosshairGroup();
  });
  afterEach(() => {
    document.body.replaceChildren();
  });

  it("moves the crosshair of all charts to the nearest sample, and takes it away again", async () => {
    const [one, two] = [makeChart(group), makeChart(group)];
    pointer(one.surface, "pointermove", 306);
    await nextFrame();
    for (const chart of [one, two]) {
      expect(chart.crosshair.style.opacity).toBe("1");
      expect(chart.crosshair.style.transform).toBe("translateX(310px)");
    }
    pointer(one.surface, "pointerleave", 306);
    await nextFrame();
    expect(two.crosshair.style.opacity).toBe("0");
  });

  it("zooms by a drag in either direction, shown on every chart meanwhile", async () => {
    const [one, two] = [makeChart(group, { onZoom, onInstant }), makeChart(group)];
    pointer(one.surface, "pointerdown", 600);
    pointer(one.surface, "pointermove", 500);
    pointer(one.surface, "pointermove", 200);
    await nextFrame();
    expect(two.selection.hidden).toBe(false);
    expect(two.selection.style.width).toBe("400px");
    pointer(one.surface, "pointerup", 200);
    await nextFrame();
    expect(onZoom).toHaveBeenCalledExactlyOnceWith({ startMs: START + 20_000, endMs: START + 60_000 });
    expect(onInstant).not.toHaveBeenCalled();
    expect(two.selection.hidden).toBe(true);
  });

  it("gives up a drag by Escape", async () => {
    const { surface, selection } = makeChart(group, { onZoom, onInstant });
    pointer(surface, "pointerdown", 600);
    pointer(surface, "pointermove", 300);
    surface.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
    pointer(surface, "pointerup", 300);
    await nextFrame();
    expect(onZoom).not.toHaveBeenCalled();
    expect(selection.hidden).toBe(true);
  });

  it("takes a click as a time, unless a second one makes it zoom out", async () => {
    const { surface } = makeChart(group, { onInstant, onZoomOut });
    vi.useFakeTimers();
    try {
      const click = (more = {}) => {
        pointer(surface, "pointerdown", 402, more);
        pointer(surface, "pointerup", 402, more);
      };
      click();
      expect(onInstant).not.toHaveBeenCalled();
      vi.runAllTimers();
      expect(onInstant).toHaveBeenLastCalledWith(START + 40_000, { x: 402, y: 5 });
      click();
      click();
      surface.dispatchEvent(new MouseEvent("dblclick"));
      vi.runAllTimers();
      expect(onInstant).toHaveBeenCalledTimes(1);
      expect(onZoomOut).toHaveBeenCalledTimes(1);
      click({ altKey: true });
      expect(onInstant).toHaveBeenCalledTimes(2);
    } finally {
      vi.useRealTimers();
    }
  });

  it("reads by touch without zooming, and stays when the finger leaves", async () => {
    const { surface, crosshair } = makeChart(group, { onZoom, onInstant });
    const touch = { pointerType: "touch" };
    pointer(surface, "pointerdown", 100, touch);
    pointer(surface, "pointermove", 500, touch);
    pointer(surface, "pointerup", 500, touch);
    pointer(surface, "pointerleave", 500, touch);
    await nextFrame();
    expect(crosshair.style.transform).toBe("translateX(500px)");
    expect(crosshair.style.opacity).toBe("1");
    expect(onZoom).not.toHaveBeenCalled();
    expect(onInstant).not.toHaveBeenCalled();
  });
});
