import { expect, it } from "vitest";
import { alert } from "@/testing/alert-fixtures";
import { matchersFor, matchersProblem, silenceEnd } from "./silence";

it("begins with all labels but the run, the name first", () => {
  const labels = { severity: "page", run: "r1", alertname: "X", instance: "db" };
  expect(
    matchersFor([alert("a", { labels })]).map(({ name, operator, value }) => `${name}${operator}${value}`),
  ).toEqual(["alertname=X", "instance=db", "severity=page"]);
});

it("takes in every alert of an incident, and nothing with other values", () => {
  const alerts = [
    { labels: { alertname: "Refused", severity: "critical", instance: "db.1", job: "mysql" } },
    { labels: { alertname: "High", severity: "warning", instance: "db.1", job: "mysql" } },
    { labels: { alertname: "Errors", severity: "critical", run: "r1" } },
  ];
  const matchers = matchersFor(alerts);
  expect(matchers.map(({ name, operator, value }) => `${name}${operator}${value}`)).toEqual([
    "alertname=~Errors|High|Refused",
    "instance=~|db\\.1",
    "job=~|mysql",
    "severity=~critical|warning",
  ]);
  const falls = (labels: Readonly<Record<string, string>>) =>
    matchers.every(({ name, value }) => new RegExp(`^(?:${value})$`).test(labels[name] ?? ""));
  expect(alerts.every(({ labels }) => falls(labels))).toBe(true);
  expect(falls({ alertname: "High", severity: "warning", instance: "dbx1", job: "mysql" })).toBe(false);
  expect(falls({ alertname: "Down", severity: "critical", instance: "db.1", job: "mysql" })).toBe(false);
});

it("ends tomorrow at nine by the clock that the page shows", () => {
  const night = Date.UTC(2026, 10, 30, 23, 30);
  expect(silenceEnd("morning", night, "utc")).toBe(Date.UTC(2026, 11, 1, 9));
  const local = new Date(silenceEnd("morning", night, "local"));
  expect([local.getHours(), local.getMinutes(), local.getSeconds()]).toEqual([9, 0, 0]);
  expect(local.getTime()).toBeGreaterThan(night);
  expect(silenceEnd("30m", night, "utc")).toBe(night + 1_800_000);
});

it("says what keeps matchers from being asked about", () => {
  const one = { name: "job", operator: "=", value: "" } as const;
  expect(matchersProblem([one])).toBeNull();
  expect(matchersProblem([])).toBe("none");
  expect(matchersProblem([{ ...one, name: "" }])).toBe("name");
  expect(matchersProblem([{ ...one, name: "a-b" }])).toBe("name");
  expect(matchersProblem(new Array(21).fill(one))).toBe("many");
});
