import { expect, it } from "vitest";
import { assignPlaces, OUTCOME_PLACES, OUTCOMES, placeByLabels, wishOf } from "./palette-places";

const none = new Map<string, number>();
const thing = (name: string) => ({ id: name, wish: wishOf(name) });

it("gives kinds of failures and percentiles one place each, whoever reports them", () => {
  expect(OUTCOMES.map((outcome) => placeByLabels({ outcome, run: "a" }))).toEqual(
    OUTCOMES.map((outcome) => OUTCOME_PLACES[outcome]),
  );
  expect(new Set(Object.values(OUTCOME_PLACES)).size).toBe(OUTCOMES.length);
  expect(placeByLabels({ quantile: "0.95" })).toBe(placeByLabels({ quantile: "0.950" }));
  expect(
    ["0", "0.5", "0.75", "0.9", "0.95", "0.99", "0.999", "1"].map((quantile) => placeByLabels({ quantile })),
  ).toEqual([7, 0, 5, 1, 2, 3, 6, 4]);
  expect(["in", "out"].map((direction) => placeByLabels({ direction }))).toEqual([0, 1]);
  expect(placeByLabels({ instance: "shop-01" })).toBeNull();
  expect(placeByLabels({ outcome: "toString" })).toBeNull();
});

it("keeps a thing's place whatever is drawn beside it, as long as no two meet in one colour", () => {
  const names = Array.from({ length: 40 }, (_, index) => `shop-${index}`);
  const alone = new Map(names.map((name) => [name, assignPlaces([thing(name)], none).get(name)]));
  // Every colour is asked for by some.
  expect(new Set(alone.values()).size).toBe(8);
  const apart = [...new Map(names.map((name) => [alone.get(name), name])).values()];
  const together = assignPlaces(apart.map(thing), none);
  expect(apart.map((name) => together.get(name))).toEqual(apart.map((name) => alone.get(name)));
});

it("tells those apart that ask for the same, the same way in whatever order they come", () => {
  const same = [2, 1, 3].map((place) => ({ id: `series ${place}`, wish: 4 }));
  const places = assignPlaces(same, none);
  expect([...places].toSorted()).toEqual([
    ["series 1", 4],
    ["series 2", 5],
    ["series 3", 6],
  ]);
  expect([...assignPlaces(same.toReversed(), none)].toSorted()).toEqual([...places].toSorted());
  expect(assignPlaces([{ id: "fixed", slot: 4 }, ...same.slice(1, 2)], none).get("series 1")).toBe(5);
});

it("changes no colour while a chart lives", () => {
  const first = assignPlaces([{ id: "b", wish: 3 }], none);
  const later = assignPlaces([{ id: "a", wish: 3 }, { id: "b", wish: 3 }, { id: "c" }], first);
  expect([...later].toSorted()).toEqual([
    ["a", 4],
    ["b", 3],
    ["c", 0],
  ]);
});

it("gives what is fixed its place also where another has it since before", () => {
  const first = assignPlaces([{ id: "not stored", wish: 1 }], none);
  const later = assignPlaces(
    [
      { id: "not stored", wish: 1 },
      { id: "timeout", slot: 1 },
    ],
    first,
  );
  expect([...later]).toEqual([
    ["timeout", 1],
    ["not stored", 2],
  ]);
});

it("gives all series of one thing its colour, each with a dash of its own", () => {
  const series = ["in use", "idle"].flatMap((signal, variant) =>
    ["web-1", "web-2"].map((name) => ({ id: `${signal} ${name}`, thing: name, variant, wish: 5 })),
  );
  const places = assignPlaces(series, none);
  expect(series.map(({ id }) => places.get(id))).toEqual([5, 6, 13, 14]);
  expect(assignPlaces(series.slice(2), assignPlaces(series.slice(0, 2), none)).get("idle web-2")).toBe(14);
});

it("repeats colours with another dash once all are taken", () => {
  const many = Array.from({ length: 20 }, (_, index) => thing(`shop-${index}`));
  const places = [...assignPlaces(many, none).values()];
  expect(new Set(places).size).toBe(20);
  expect(new Set(places.map((place) => place % 8)).size).toBe(8);
  expect(Math.max(...places)).toBe(19);
});
