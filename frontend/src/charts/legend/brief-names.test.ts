import { expect, it } from "vitest";
import { briefNames } from "./brief-names";

it("says once what all names share", () => {
  expect(briefNames(["In use · web-1 orders", "Idle · web-1 orders"])).toEqual({
    briefs: ["In use", "Idle"],
    common: "web-1 orders",
  });
  expect(briefNames(["shop web-1 app", "shop web-2 app"])).toEqual({ briefs: ["web-1", "web-2"], common: "shop app" });
});

it("keeps what lies between, as it was written", () => {
  expect(briefNames(["Open · web-1 a", "Idle · web-2 a"]).briefs).toEqual(["Open · web-1", "Idle · web-2"]);
  const totals = ["Total of 5", "Limit · Total of 5"];
  expect(briefNames(totals)).toEqual({ briefs: totals, common: "" });
});

it("never leaves a series without a name", () => {
  expect(briefNames(["orders", "orders idle"]).briefs).toEqual(["orders", "orders idle"]);
  expect(briefNames(["a b", "a b"]).briefs).toEqual(["a b", "a b"]);
  expect(briefNames(["web-1 orders"])).toEqual({ briefs: ["web-1 orders"], common: "" });
  expect(briefNames([])).toEqual({ briefs: [], common: "" });
});
