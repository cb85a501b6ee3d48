import { expect, it } from "vitest";
import { alert, rule, SEEN, SILENCE } from "@/testing/alert-fixtures";
import {
  gravityOf,
  groupAlerts,
  labelText,
  mattersOf,
  otherAnnotations,
  ruleRank,
  rulesFound,
  safeLink,
  tellingLabels,
} from "./text";

it("a severity is understood in the words that teams use, and an unknown one is not taken for harmless", () => {
  expect(gravityOf("critical")).toBe("critical");
  expect(gravityOf("Page")).toBe("critical");
  expect(gravityOf("info")).toBe("info");
  expect(gravityOf("")).toBe("none");
  expect(gravityOf("sev-odd")).toBe("warning");
});

it("groups by name, the gravest first, then the newest; what is in hand or quiet comes last", () => {
  const groups = groupAlerts([
    alert("info", { name: "Low", severity: "info" }),
    alert("old", { name: "Bad", severity: "critical", active_ms: 1 }),
    alert("seen", { name: "Seen", severity: "critical", acknowledged: SEEN }),
    alert("silent", { name: "Silent", severity: "critical", silenced_by: [SILENCE] }),
    alert("new", { name: "Bad", severity: "critical", active_ms: 9 }),
  ]);
  expect(groups.map(({ name }) => name)).toEqual(["Bad", "Low", "Seen", "Silent"]);
  expect(groups[0]?.alerts.map(({ id }) => id)).toEqual(["new", "old"]);
});

it("an incident stands where the gravest of its alerts does, and apart from others of the head's name", () => {
  const mark = { id: "i", head: "head" };
  const groups = groupAlerts([
    alert("alone", { name: "PoolWaits", severity: "warning" }),
    alert("head", { name: "PoolWaits", severity: "warning", incident: mark }),
    alert("grave", { name: "LoadErrors", severity: "critical", incident: mark }),
  ]);
  expect(
    groups.map(({ name, alerts, others }) => [name, alerts.map(({ id }) => id), others.map(({ id }) => id)]),
  ).toEqual([
    ["PoolWaits", ["head"], ["grave"]],
    ["PoolWaits", ["alone"], []],
  ]);
});

it("shows the labels that tell alerts of one rule apart", () => {
  const labels = { severity: "page", run: "r1", job: "mysql", alertname: "X", instance: "db" };
  expect(tellingLabels(labels)).toEqual([
    ["instance", "db"],
    ["job", "mysql"],
  ]);
  expect(labelText(labels)).toBe('instance="db", job="mysql"');
  expect(otherAnnotations({ summary: "s", loadwatch_unit: "ratio", team: "db" })).toEqual([["team", "db"]]);
});

it("takes no link that a browser would run", () => {
  expect(safeLink("https://example.org/x")).toBe("https://example.org/x");
  expect(safeLink("/runbooks/x")).toBe("/runbooks/x");
  expect(safeLink("javascript:alert(1)")).toBeNull();
  expect(safeLink("//evil.example/x")).toBeNull();
  expect(safeLink("/\\evil.example/x")).toBeNull();
  expect(safeLink("/\t/evil.example/x")).toBeNull();
  expect(safeLink("")).toBeNull();
});

it("finds rules by all words, and puts what cannot be evaluated first", () => {
  const rules = [
    rule("Pool", { annotations: { summary: "requests wait for the pool" } }),
    rule("Fds", { expression: "process_open_fds > 900", state: "firing" }),
    rule("Broken", { health: "error" }),
  ];
  expect(rulesFound(rules, "WAIT pool").map(({ name }) => name)).toEqual(["Pool"]);
  expect(rulesFound(rules, "open_fds").map(({ name }) => name)).toEqual(["Fds"]);
  expect(rulesFound(rules, " ")).toHaveLength(3);
  expect(rules.toSorted((a, b) => ruleRank(a) - ruleRank(b)).map(({ name }) => name)).toEqual([
    "Broken",
    "Fds",
    "Pool",
  ]);
});

it("puts alerts together by their incidents, at the place of the first, named after the head", () => {
  const mark = { id: "i", head: "b" };
  const alerts = [alert("x"), alert("a", { incident: mark }), alert("y"), alert("b", { incident: mark })];
  expect(mattersOf(alerts).map(({ head, others }) => [head.id, others.map(({ id }) => id)])).toEqual([
    ["x", []],
    ["b", ["a"]],
    ["y", []],
  ]);
  // The head may not match a search.
  expect(mattersOf(alerts.slice(0, 2)).map(({ head }) => head.id)).toEqual(["x", "a"]);
});
