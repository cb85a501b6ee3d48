import { expect, it } from "vitest";
import { type AuditFilter, decodeAudit, encodeAudit, periodStart } from "./audit";

it("the address holds the log's filter, and what others put there", () => {
  const filter: AuditFilter = { actor: "mika", area: "silence", period: "all" };
  const params = encodeAudit(filter, new URLSearchParams("tz=utc&area=run"));
  expect(decodeAudit(params)).toEqual(filter);
  expect(params.get("tz")).toBe("utc");
  expect(encodeAudit(decodeAudit(new URLSearchParams()), new URLSearchParams()).toString()).toBe("");
  expect(decodeAudit(new URLSearchParams("area=everything&period=1y"))).toEqual({ actor: "", area: "", period: "7d" });
});

it("a period ends now", () => {
  expect(periodStart("1d", 100_000_000)).toBe(13_600_000);
  expect(periodStart("all", 100_000_000)).toBeNull();
});
