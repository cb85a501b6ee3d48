import { expect, it } from "vitest";
import { layOutLabels } from "./lane-layout";

it("labels take the room up to the next mark", () => {
  const labels = layOutLabels([
    { id: 1, left: 10, width: null },
    { id: 2, left: 40, width: null },
  ]);
  expect(labels.get(1)).toEqual({ room: 30, before: false });
  expect(labels.get(2)).toEqual({ room: 60, before: false });
});

it("near the end they stand before their mark", () => {
  expect(layOutLabels([{ id: 1, left: 98, width: null }]).get(1)).toEqual({ room: 98, before: true });
});

it("marks side by side keep their labels apart", () => {
  const labels = layOutLabels([
    { id: 1, left: 96, width: null },
    { id: 2, left: 98, width: null },
  ]);
  expect(labels.get(1)).toEqual({ room: 96, before: true });
  expect(labels.get(2)?.room).toBe(0);
});

it("a span has its own width", () => {
  expect(layOutLabels([{ id: 3, left: 20, width: 30 }]).get(3)).toEqual({ room: 30, before: false });
});
