import { expect, it } from "vitest";
import { bodyHeight, endsWidth, headWidth, legendPlace } from "./legend-place";

const card = { width: 640, height: 218, ends: endsWidth(["sent", "stored"]), head: headWidth(["Backlog", "rows"]) };

it("puts the only series into the title line and few beside the ends of their lines", () => {
  expect(legendPlace("list", 0, card)).toBe("title");
  expect(legendPlace("list", 1, card)).toBe("title");
  expect(legendPlace("list", 5, card)).toBe("ends");
});

it("puts the only series below where its title line has no room for it", () => {
  const head = headWidth(["Waits for a pooled connection", "/s · means of 5 s", "demo-app hits"]);
  expect(legendPlace("list", 1, { ...card, width: 400, head })).toBe("below");
  expect(legendPlace("list", 1, { ...card, width: 800, head })).toBe("title");
});

it("puts many, long names, and those of a small card below", () => {
  expect(legendPlace("list", 6, card)).toBe("below");
  expect(legendPlace("list", 3, { ...card, ends: endsWidth(["connections of checkout-service-7f9c"]) })).toBe("below");
  expect(legendPlace("list", 3, { ...card, width: 338 })).toBe("below");
  expect(legendPlace("list", 4, { ...card, height: 120 })).toBe("below");
  expect(legendPlace("list", 3, { ...card, width: 0, height: 0 })).toBe("below");
});

it("leaves tables and charts without a legend alone", () => {
  expect(legendPlace("table", 1, card)).toBe("table");
  expect(legendPlace("none", 3, card)).toBe("none");
  expect(bodyHeight("none", 176)).toBe(176);
  expect(bodyHeight("list", 170)).toBeGreaterThan(170);
});
