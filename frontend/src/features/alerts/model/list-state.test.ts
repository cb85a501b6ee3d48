import { expect, it } from "vitest";
import { ALL_ALERTS, decodeAlertList, encodeAlertList, matchersOf } from "./list-state";

it("comes back from the address as it went in, and leaves the parameters of others alone", () => {
  const state = { search: "pool", state: "firing", severity: "page" } as const;
  const params = encodeAlertList(state, new URLSearchParams("tz=utc&state=pending"));
  expect(decodeAlertList(params)).toEqual(state);
  expect(params.get("tz")).toBe("utc");
  expect(encodeAlertList(ALL_ALERTS, params).toString()).toBe("tz=utc");
});

it("takes what it does not know for not said", () => {
  expect(decodeAlertList(new URLSearchParams("state=running&severity="))).toEqual(ALL_ALERTS);
});

it("asks the server with quotes that hold", () => {
  expect(matchersOf({ ...ALL_ALERTS, severity: 'a"b\\c' })).toEqual(['severity="a\\"b\\\\c"']);
  expect(matchersOf(ALL_ALERTS)).toEqual([]);
});
