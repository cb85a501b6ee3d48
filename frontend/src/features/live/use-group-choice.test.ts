// @vitest-environment jsdom
import { expect, it } from "vitest";
import { writePreference } from "@/lib/view/preferences";
import { moved, orderOf, PACKS_CHOICE, readGroupChoice } from "./use-group-choice";

const PACKS = ["mission", "pool", "process", "host"];

it("without a choice groups stand in the packs' order", () => {
  expect(orderOf(PACKS, [])).toEqual(PACKS);
});

it("a group that came later stands behind the one that it follows in the packs", () => {
  expect(orderOf(PACKS, ["host", "pool", "mission"])).toEqual(["host", "pool", "process", "mission"]);
  expect(orderOf(["new", ...PACKS], ["host", "pool", "process", "mission"])[0]).toBe("new");
  expect(orderOf(["mission", "pool", "a", "b"], ["pool", "mission"])).toEqual(["pool", "a", "b", "mission"]);
});

it("a group whose pack is away keeps its place", () => {
  expect(orderOf(["mission", "pool"], ["pool", "host", "mission"])).toEqual(["pool", "host", "mission"]);
});

it("a group passes its neighbour in the list, and those that are not listed between them", () => {
  const listed = ["mission", "process", "host"];
  expect(moved(PACKS, listed, "process", -1)).toEqual(["process", "mission", "pool", "host"]);
  expect(moved(PACKS, listed, "mission", 1)).toEqual(["pool", "process", "mission", "host"]);
  expect(moved(PACKS, listed, "mission", -1)).toEqual(PACKS);
  expect(moved(PACKS, listed, "host", 1)).toEqual(PACKS);
});

it("what the browser holds is read as far as it can be", () => {
  expect(readGroupChoice(null)).toEqual(PACKS_CHOICE);
  expect(readGroupChoice("no JSON")).toEqual(PACKS_CHOICE);
  expect(readGroupChoice("7")).toEqual(PACKS_CHOICE);
  expect(readGroupChoice('{"order":["a",1],"hidden":"a"}')).toEqual({ order: ["a"], hidden: [] });
  writePreference("live-groups", '{"order":["b"],"hidden":["c"]}');
  expect(readGroupChoice()).toEqual({ order: ["b"], hidden: ["c"] });
});
