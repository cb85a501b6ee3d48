// @vitest-environment jsdom
import { afterEach, expect, it } from "vitest";
import type { Layer } from "@/charts/lines/stacking";
import { LABEL_PX, placeEndLabels } from "./end-labels";

const grid = { startMs: 0, stepMs: 1000, count: 4 };
const geometry = {
  ...{ x: 40, y: 14, width: 500, height: 100 },
  range: { startMs: 0, endMs: 3000 },
  domain: { min: 0, max: 100 },
};
const layer = (id: string, tops: (number | null)[], bases: number[] | null = null): Layer => ({
  series: { id, name: id, values: tops, ...(bases !== null && { stack: "all" }) },
  ...{ tops, bases },
});

function legend(...ids: string[]): HTMLElement {
  const list = document.body.appendChild(document.createElement("ul"));
  for (const id of ids) {
    const item = list.appendChild(document.createElement("li"));
    item.dataset.series = id;
    item.appendChild(document.createElement("button"));
  }
  return list;
}

/** Upper edges of the labels, in the order of the legend. */
function tops(list: HTMLElement): string[] {
  const items = [...list.children] as HTMLElement[];
  return items.map(
    ({ style }, place) => `${place * LABEL_PX + Number.parseFloat(style.translate.split(" ")[1] ?? "")}px`,
  );
}

afterEach(() => document.body.replaceChildren());

it("puts each label beside the last value of its line", () => {
  const list = legend("a", "b");
  placeEndLabels(list, [layer("a", [1, 2, 3, 90]), layer("b", [9, 30, 10, null])], grid, geometry);
  // 90 of 100 lies 10 px below the plot's upper edge at 14, 10 of 100 lies 90 px below; labels are 30 px high.
  expect(tops(list)).toEqual(["9px", "89px"]);
});

it("puts that of a stack's part at its middle, and what is hidden at the foot", () => {
  const list = legend("hidden", "a");
  placeEndLabels(list, [layer("a", [0, 0, 0, 60], [0, 0, 0, 40])], grid, geometry);
  expect(tops(list)).toEqual(["99px", "49px"]);
});

it("moves none away from the focus", () => {
  const list = legend("a");
  placeEndLabels(list, [layer("a", [1, 2, 3, 90])], grid, geometry);
  list.querySelector("button")?.focus();
  placeEndLabels(list, [layer("a", [1, 2, 3, 10])], grid, geometry);
  expect(tops(list)).toEqual(["9px"]);
  list.querySelector("button")?.blur();
  placeEndLabels(list, [layer("a", [1, 2, 3, 10])], grid, geometry);
  expect(tops(list)).toEqual(["89px"]);
});

it("keeps one still that is off by a few pixels", () => {
  const list = legend("a");
  for (const value of [50, 60, 40]) {
    placeEndLabels(list, [layer("a", [1, 2, 3, value])], grid, geometry);
    expect(tops(list)).toEqual(["49px"]);
  }
  placeEndLabels(list, [layer("a", [1, 2, 3, 64])], grid, geometry);
  expect(tops(list)).toEqual(["35px"]);
});
