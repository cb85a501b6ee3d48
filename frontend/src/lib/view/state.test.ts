import { describe, expect, it } from "vitest";
import { DEFAULT_RANGE, lastRange } from "@/lib/time/range";
import { decodeView, encodeView, isLive, type ViewState, viewSearch, withFilter } from "./state";

const NOW = Date.UTC(2026, 10, 21, 10, 30, 0);
const decode = (text: string) => decodeView(new URLSearchParams(text), NOW);

describe("the address", () => {
  it("is empty for the default view", () => {
    const { view, problems } = decode("");
    expect(problems).toEqual([]);
    expect(view.range).toEqual(DEFAULT_RANGE);
    expect(encodeView(view, new URLSearchParams()).toString()).toBe("");
  });

  it("gives back every part of a view", () => {
    const view: ViewState = {
      range: lastRange("1h"),
      pausedAt: NOW,
      filters: { job: ["app", "a:b,c"], instance: ["10.0.0.1:80"] },
      folded: ["host", "database"],
      opened: ["traffic"],
      zone: "utc",
      panel: "rps",
      perInstance: true,
      fleets: { aws_database: "spread", aws_instances: "each" },
    };
    const text = encodeView(view, new URLSearchParams()).toString();
    expect(decode(text)).toEqual({ view, problems: [] });
  });

  it("has a chart for each instance of a panel only, and leaves no word of it when that closes", () => {
    const { view } = decode("panel=rps&by=instance");
    expect(view.perInstance).toBe(true);
    expect(encodeView({ ...view, panel: null }, new URLSearchParams("by=instance")).toString()).toBe("");
    expect(decode("by=instance").view.perInstance).toBe(false);
  });

  it("keeps parameters of others", () => {
    const { view } = decode("");
    expect(encodeView({ ...view, zone: "utc" }, new URLSearchParams("run=7")).toString()).toBe("run=7&tz=utc");
  });

  it("names what cannot be read and falls back", () => {
    expect(decode("from=soon&to=now").problems).toEqual(["from"]);
    expect(decode("from=now&to=now-1h").problems).toEqual(["from"]);
    expect(decode("paused=1&tz=mars&filter=nolabel").problems).toEqual(["paused", "tz", "filter"]);
    expect(decode("show=aws_database:sideways").problems).toEqual(["show"]);
    expect(decode("from=soon").view.range).toEqual(DEFAULT_RANGE);
  });

  it("does not pause a fixed range", () => {
    const { view } = decode(`from=2026-11-21T10:00:00Z&to=2026-11-21T10:10:00Z&paused=${NOW}`);
    expect(view.pausedAt).toBeNull();
    expect(isLive(view)).toBe(false);
  });
});

it("goes along to another page, without what only that page knows", () => {
  const search = "?expr=up%7Bjob%3D%22a%22%7D&from=now-1h&to=now&filter=job%3Aa&filter=job%3Ab&state=ended&tz=utc";
  expect(viewSearch(search)).toBe("from=now-1h&to=now&filter=job%3Aa&filter=job%3Ab&tz=utc");
  expect(viewSearch("?expr=up")).toBe("");
});

describe("filters", () => {
  it("come and go by label", () => {
    const one = withFilter({}, "job", ["app"]);
    expect(withFilter(one, "instance", ["a"])).toEqual({ job: ["app"], instance: ["a"] });
    expect(withFilter(one, "job", [])).toEqual({});
  });
});

const DAY = lastRange("24h");

it("a page may have another usual range than the live page; the address then says what differs from it", () => {
  const { view } = decodeView(new URLSearchParams("search=pool"), 0, DAY);
  expect(view.range).toEqual(DAY);
  expect(encodeView(view, new URLSearchParams("search=pool"), DAY).toString()).toBe("search=pool");
  const shorter = encodeView({ ...view, range: lastRange("5m") }, new URLSearchParams(), DAY);
  expect(shorter.get("from")).toBe("now-5m");
  expect(decodeView(shorter, 0, DAY).view.range).toEqual(lastRange("5m"));
});
