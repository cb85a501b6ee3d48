import { expect, it } from "vitest";
import { decodeDeliveries, encodeDeliveries } from "./deliveries";

it("the address holds the filter of deliveries, and what others put there", () => {
  const filter = { states: ["waiting", "dead"] as const, receiver: "on call", search: "a&b" };
  const params = encodeDeliveries(filter, new URLSearchParams("tz=utc&state=sending&delivery=d1"));
  expect(decodeDeliveries(params)).toEqual(filter);
  expect(params.get("tz")).toBe("utc");
  expect(encodeDeliveries({ states: [], receiver: "", search: "" }, params).toString()).toBe("tz=utc&delivery=d1");
  expect(decodeDeliveries(new URLSearchParams("state=lost"))).toEqual({ states: [], receiver: "", search: "" });
});
