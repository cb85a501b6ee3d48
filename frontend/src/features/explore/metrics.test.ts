import { expect, it } from "vitest";
import { factsOf, matching } from "./metrics";

const metadata = {
  http_seconds: [{ type: "histogram", help: "Time of requests." }],
  up: [{ type: "gauge", help: "Whether the target answers." }],
};
const names = ["http_seconds_bucket", "node_up", "up"];

it("finds words in names and helps, and begins with what begins with them", () => {
  expect(matching(names, metadata, "UP")).toEqual(["up", "node_up"]);
  expect(matching(names, metadata, "http requests")).toEqual(["http_seconds_bucket"]);
  expect(matching(names, undefined, "requests")).toEqual([]);
  expect(matching(names, metadata, " ")).toEqual(names);
});

it("knows the family of a histogram's series", () => {
  expect(factsOf(metadata, "http_seconds_bucket")?.type).toBe("histogram");
});
