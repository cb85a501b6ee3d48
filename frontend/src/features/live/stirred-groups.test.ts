import { describe, expect, it } from "vitest";
import type { HeadroomEntry, SignalInfo } from "@/api/types";
import type { PanelGroup } from "@/panels/panel-catalogue";
import { evidence, finding } from "@/testing/finding-fixtures";
import { stirredGroups } from "./stirred-groups";

const group = (id: string, ...expressions: string[]) =>
  ({
    group: { id, title: id, optional: false },
    panels: [{ id, signals: expressions.map((expression) => ({ expression }) as SignalInfo) }],
  }) as unknown as PanelGroup;
const limit = (id: string, state: HeadroomEntry["state"]) => ({ group: id, state }) as HeadroomEntry;

const GROUPS = [
  group("mission", "sum(rate(loadtest_requests_total[$window]))"),
  group("pool", "sum by (job, instance, db_name) (go_sql_in_use_connections)"),
  group("process", 'max by (db_name) (process_open_fds{name="go_sql_in_use_connections"})'),
  group("host", "avg_over_time(node_load1[1m])"),
];
const standing = (expression: string, more = {}) => finding("one", { evidence: [evidence({ expression, ...more })] });

describe("groups that have to do with what is wrong", () => {
  it("are those in which a limit is near", () => {
    expect(
      stirredGroups(GROUPS, [limit("pool", "near"), limit("host", "ok"), limit("process", "exhausted")], []),
    ).toEqual(["pool", "process"]);
  });

  it("are those that draw what a finding stands on, by its metrics and not by labels or functions", () => {
    const found = standing("rate(go_sql_in_use_connections[5s])");
    expect(stirredGroups(GROUPS, [], [found])).toEqual(["pool"]);
    expect(stirredGroups(GROUPS, [], [standing("avg_over_time(up[1m]) + on (db_name) up")])).toEqual([]);
  });

  it("are none for what accuses nothing, what people have muted, or what was done to the load", () => {
    const found = standing("node_load1");
    expect(stirredGroups(GROUPS, [], [found])).toEqual(["host"]);
    expect(stirredGroups(GROUPS, [], [{ ...found, severity: "info" }])).toEqual([]);
    expect(stirredGroups(GROUPS, [], [{ ...found, muted: true }])).toEqual([]);
    expect(stirredGroups(GROUPS, [], [standing("node_load1", { link: "effect" })])).toEqual([]);
  });
});
