// @vitest-environment node
import { describe, expect, it } from "vitest";
import type { ChartSeries } from "@/charts/chart-types";
import { layersExtent, stackLayers } from "./stacking";

const series = (id: string, values: (number | null)[], stack?: string): ChartSeries =>
  stack === undefined ? { id, name: id, values } : { id, name: id, values, kind: "area", stack };

describe("stackLayers", () => {
  it("puts areas of one stack on top of each other; a gap adds nothing to what lies above", () => {
    const layers = stackLayers(
      [series("a", [1, 2, 3], "s"), series("b", [10, null, 30], "s"), series("c", [1, 1, 1], "s")],
      3,
    );
    expect(layers.map((layer) => layer.tops)).toEqual([
      [1, 2, 3],
      [11, null, 33],
      [12, 3, 34],
    ]);
    expect(layers[0]?.bases).toBeNull();
    expect(layers[2]?.bases).toEqual([11, 2, 33]);
  });

  it("leaves other series and other stacks alone", () => {
    const layers = stackLayers([series("a", [1], "s"), series("line", [5]), series("b", [2], "t")], 1);
    expect(layers.map((layer) => layer.tops)).toEqual([[1], [5], [2]]);
  });
});

describe("layersExtent", () => {
  it("looks at the range only and knows when there is nothing", () => {
    const layers = stackLayers([series("a", [1, 50, 3, null])], 4);
    const grid = { startMs: 0, stepMs: 1000, count: 4 };
    expect(layersExtent(layers, grid, { startMs: 0, endMs: 3000 })).toEqual({ min: 1, max: 50 });
    expect(layersExtent(layers, grid, { startMs: 1500, endMs: 3000 })).toEqual({ min: 3, max: 3 });
    expect(layersExtent(layers, grid, { startMs: 3000, endMs: 9000 })).toBeNull();
  });
});
