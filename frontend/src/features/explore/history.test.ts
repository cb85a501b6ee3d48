// @vitest-environment jsdom
import { expect, it } from "vitest";
import { MOST_REMEMBERED, readHistory, remember, withExpression } from "./history";

it("holds the last fifty, each once, the newest first", () => {
  const many = Array.from({ length: 60 }, (_, place) => `m${place}`).reduce(withExpression, [] as readonly string[]);
  expect(many).toHaveLength(MOST_REMEMBERED);
  expect(many.slice(0, 2)).toEqual(["m59", "m58"]);
  expect(withExpression(many, "m57").slice(0, 3)).toEqual(["m57", "m59", "m58"]);
});

it("is read again, and what is no list of texts is none", () => {
  remember("up");
  remember("sum(up)");
  expect(readHistory()).toEqual(["sum(up)", "up"]);
  for (const text of ["{", "7", "null"]) expect(readHistory(text)).toEqual([]);
  expect(readHistory('["up",7]')).toEqual(["up"]);
});
