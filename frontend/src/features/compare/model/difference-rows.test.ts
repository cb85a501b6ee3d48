import { expect, it } from "vitest";
import { comparison, group, run } from "@/testing/compare-fixtures";
import { differences } from "./difference-rows";

const change = (key: string, after: string, deliberate: boolean, important = true) => ({
  ...{ target: "mysql db:3306", section: "database", key, before: "151", after, unit: "", deliberate, important },
});

const data = comparison({
  groups: [group("a", ["a"], true), group("b", ["b"]), group("c", ["c"])],
  runs: [
    run("a", { commit: "1234567890abcdef", parameters: { pool: "20" } }),
    run("b", { commit: "fedcba0987654321", parameters: { pool: "40" } }),
    run("c", { commit: "1234567890abcdef", parameters: { pool: "20", shards: "2" }, dirty: true }),
  ],
  configuration: [
    {
      ...{ base: "a", run: "b", missing: null },
      changes: [
        change("rows", "900", false, false),
        change("max_connections", "300", true),
        change("pages", "7", false),
      ],
    },
    { base: "a", run: "c", missing: "nothing was sent", changes: [] },
  ],
});

it("leads with commit and parameters, and leaves out facts that are equal", () => {
  const { facts } = differences(data);
  expect(facts.map(({ fact, name, values }) => [fact, name, ...values])).toEqual([
    ["commit", "", "1234567", "fedcba0", "1234567"],
    ["dirty", "", null, null, "true"],
    ["parameters", "pool", "20", "40", "20"],
    ["parameters", "shards", null, null, "2"],
  ]);
});

it("compares all that a line says of a run, but not what it is called", () => {
  const other = { name: "x", author: "y", tags: ["z"], commit: "fedcba", dirty: true, branch: "b", tool: "k6" };
  const more = { scenario: "checkout", scenario_version: "v2", target_rate: 50, parameters: { pool: "1" } };
  const { facts } = differences(comparison({ ...data, runs: [run("a"), run("b", { ...other, ...more })] }));
  expect(facts.map(({ fact }) => fact)).toEqual([
    ...["commit", "dirty", "branch", "parameters", "target_rate", "tool", "scenario", "scenario_version"],
  ]);
});

it("tells settings that were set from what drifted, the important first; who is not named has the base's value", () => {
  const { deliberate, drift, missing } = differences(data);
  expect(deliberate.map(({ name, values }) => [name, ...values])).toEqual([["max_connections", "151", "300", "151"]]);
  expect(drift.map(({ name }) => name)).toEqual(["pages", "rows"]);
  expect(missing).toEqual(["group c"]);
});
