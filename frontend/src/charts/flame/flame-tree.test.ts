// @vitest-environment node
import { describe, expect, it } from "vitest";
import { type FlameData, flameTree, follow, layout, match, nodeAt, pathTo } from "./flame-tree";

// main (10) calls a (6) and b (3); a calls b (4) and c (1).
const DATA: FlameData = {
  names: ["root", "main", "a", "b", "c"],
  func: [0, 1, 3, 2, 3, 4],
  parent: [-1, 0, 1, 1, 3, 3],
  value: [10, 10, 3, 6, 4, 1],
  base: null,
};
const tree = flameTree(DATA);
const boxes = (zoom: number, width = 100) => {
  const placed = layout(tree, zoom, width);
  return [...placed.node].map((node, at) => [node, placed.x[at], placed.width[at]]);
};

describe("layout", () => {
  it("gives each node a width by its value, the greatest first", () => {
    expect(boxes(0)).toEqual([
      [0, 0, 100],
      [1, 0, 100],
      [3, 0, 60],
      [2, 60, 30],
      [4, 0, 40],
      [5, 40, 10],
    ]);
    expect(layout(tree, 0, 100).rowStart).toEqual([0, 1, 2, 4, 6]);
  });

  it("gives a zoomed node the whole width below its callers", () => {
    const placed = layout(tree, 3, 100);
    expect([...placed.node]).toEqual([0, 1, 3, 4, 5]);
    expect(placed.callers).toBe(2);
    expect([...placed.width].map(Math.round)).toEqual([100, 100, 100, 67, 17]);
    expect(placed.hidden).toBe(0);
  });

  it("counts what is too narrow to be seen, and all below it", () => {
    const narrow = layout(tree, 0, 3);
    expect([...narrow.node]).toEqual([0, 1, 3, 2, 4]);
    expect(narrow.hidden).toBe(1);
  });

  it("counts both sides of a difference, so that what is gone has a place", () => {
    const gone = flameTree({ ...DATA, base: [10, 10, 10, 0, 0, 0] });
    const placed = layout(gone, 0, 200);
    expect([...placed.node]).toEqual([0, 1, 2, 3, 4, 5]);
    expect(placed.width[2]).toBe(130);
  });

  it("does with an empty tree", () => {
    const empty = flameTree({ names: ["root"], func: [0], parent: [-1], value: [0], base: null });
    expect([...layout(empty, 0, 100).node]).toEqual([0]);
  });

  it("lays 20,000 nodes out whatever their depth", () => {
    const count = 20_000;
    const chain = flameTree({
      names: ["f"],
      func: Array.from({ length: count }, () => 0),
      parent: Array.from({ length: count }, (_, at) => at - 1),
      value: Array.from({ length: count }, () => 1),
      base: null,
    });
    expect(layout(chain, 0, 100).rowStart).toHaveLength(count + 1);
    expect(pathTo(chain, count - 1)).toHaveLength(count);
  });
});

describe("finding nodes", () => {
  const placed = layout(tree, 0, 100);

  it("by a point", () => {
    expect(nodeAt(placed, 2, 59)).toBe(3);
    expect(nodeAt(placed, 2, 60)).toBe(2);
    expect(nodeAt(placed, 2, 95)).toBeNull();
    expect(nodeAt(placed, 9, 5)).toBeNull();
    expect(nodeAt(placed, -1, 5)).toBeNull();
  });

  it("by keys", () => {
    expect(follow(tree, placed, 0, "ArrowDown")).toBe(1);
    expect(follow(tree, placed, 1, "ArrowDown")).toBe(3);
    expect(follow(tree, placed, 3, "ArrowRight")).toBe(2);
    expect(follow(tree, placed, 2, "ArrowRight")).toBe(2);
    expect(follow(tree, placed, 2, "ArrowLeft")).toBe(3);
    expect(follow(tree, placed, 4, "ArrowUp")).toBe(3);
    expect(follow(tree, placed, 0, "ArrowUp")).toBe(0);
    expect(follow(tree, placed, 5, "Home")).toBe(0);
    expect(follow(tree, placed, 5, "ArrowDown")).toBe(5);
  });
});

describe("search", () => {
  it("counts each stack once, however often the function stands in it", () => {
    const found = match(tree, " B ");
    expect(found && [...found.nodes]).toEqual([0, 0, 1, 0, 1, 0]);
    expect(found?.value).toBe(7);
    const recursive = flameTree({ ...DATA, func: [0, 1, 3, 3, 3, 4] });
    expect(match(recursive, "b")?.value).toBe(9);
  });

  it("finds nothing by nothing", () => {
    expect(match(tree, "  ")).toBeNull();
    expect(match(tree, "x")?.count).toBe(0);
  });
});
