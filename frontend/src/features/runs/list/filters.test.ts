import { describe, expect, it } from "vitest";
import { decodeFilters, encodeFilters, type RunFilters } from "./filters";

const read = (address: string) => decodeFilters(new URLSearchParams(address));
const round = (filters: RunFilters) => {
  const params = new URLSearchParams("tz=utc&where=old&period=7d");
  encodeFilters(filters, params);
  return [params.get("tz"), params.has("where"), params.has("period"), decodeFilters(params)];
};

describe("filters in the address", () => {
  it("are read and written, and what is no value counts as not said", () => {
    const filters = read(
      "q=pool%3D8+leak&scenario=check+out&tag=nightly&verdict=none&finding=pool&commit=4f1c&actions=open&since=2026-11-01&until=2026-11-20",
    );
    expect(filters).toEqual({
      q: "pool=8 leak",
      values: {
        ...{ scenario: "check out", tag: "nightly", verdict: "none", finding: "pool", commit: "4f1c", actions: "open" },
        ...{ since: "2026-11-01", until: "2026-11-20" },
      },
      ignored: [],
    });
    expect(round(filters)).toEqual(["utc", false, false, filters]);
    expect(read("state=exploded&actions=all&verdict=maybe&since=7d&author=")).toEqual({
      q: "",
      values: {},
      ignored: [],
    });
  });

  it("come out of the text of older addresses as far as they say the same", () => {
    const where = 'scenario:"check out" verdict:failed tag:a tag:b name:leak pool=8 "12:30" "-x" since:2026-11-01';
    expect(read(`where=${encodeURIComponent(where)}`)).toEqual({
      q: "b leak pool=8 12:30 -x",
      values: { scenario: "check out", verdict: "failed", tag: "a", since: "2026-11-01" },
      ignored: [],
    });
  });

  it("name what they leave out of such a text", () => {
    const where = 'pool>10 -tag:x mode!=a since:7d scenario:one scenario:two version:v1 limit:pool "open';
    expect(read(`where=${encodeURIComponent(where)}`)).toEqual({
      q: "open",
      values: { scenario: "one" },
      ignored: ["pool>10", "-tag:x", "mode!=a", "since:7d", "scenario:two", "version:v1", "limit:pool"],
    });
  });
});
