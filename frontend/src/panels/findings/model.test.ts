import { expect, it } from "vitest";
import { diagnosis, evidence, finding, missing } from "@/testing/finding-fixtures";
import {
  beforeRun,
  chainOf,
  directCauses,
  edgesOf,
  firstEvidence,
  headlineOf,
  placeIn,
  switchedOff,
  usualLines,
} from "./model";

it("leads with the first finding that accuses, and counts the others", () => {
  const noise = finding("host-noise", { severity: "info" });
  const said = headlineOf(diagnosis(), [noise, finding("pool"), finding("database")]);
  expect(said).toMatchObject({ kind: "found", first: { key: "pool" }, more: 2 });
});

it("does not lead with what people have muted", () => {
  const said = headlineOf(diagnosis(), [finding("pool", { muted: true }), finding("database")]);
  expect(said).toMatchObject({ kind: "found", first: { key: "database" }, more: 0 });
  // That is not "none": something ran out, and people know.
  expect(headlineOf(diagnosis(), [finding("pool", { muted: true })])).toEqual({ kind: "muted", muted: 1, notes: 0 });
});

it("says none where only notes are left, and how much was checked", () => {
  const advice = finding("prepared-twice", { severity: "info" });
  expect(headlineOf(diagnosis({ state: "none" }), [advice])).toEqual({ kind: "none", checked: 1, notes: 1 });
});

it("says why it cannot tell, and nothing of a server that does not say why", () => {
  const why = { en: "40 of 100 requests failed.", ja: "40件が失敗。" };
  const cannot = diagnosis({ state: "cannot-tell", cannot_tell: why });
  expect(headlineOf(cannot, [])).toEqual({ kind: "cannot-tell", why, notes: 0 });
  expect(headlineOf(diagnosis({ state: "cannot-tell" }), [])).toMatchObject({ why: null });
});

it("is no all-clear where something is full that hurts nobody", () => {
  const full = { en: "vm used 100 % of its CPU.", ja: "vmのCPU使用率は100 %。" };
  const none = diagnosis({ state: "none", observations: [full] });
  expect(headlineOf(none, [])).toMatchObject({ kind: "full", first: full });
  const noise = finding("host-noise", { severity: "info" });
  expect(headlineOf(none, [noise])).toMatchObject({ kind: "full", first: noise.sentence });
});

it("does not lead with what was over before the latest run began, and names it apart", () => {
  const old = [finding("pool", { before_run: true }), finding("disk", { before_run: true })];
  expect(headlineOf(diagnosis({ state: "none" }), old)).toMatchObject({ kind: "none" });
  expect(headlineOf(diagnosis(), [...old, finding("fds")])).toMatchObject({ first: { key: "fds" }, more: 0 });
  expect(beforeRun(old)).toMatchObject({ first: { key: "pool" }, more: 1 });
  expect(beforeRun([finding("fds")])).toBeNull();
});

it("shows lines to paste once for all that they switch on, what no line brings last", () => {
  const groups = switchedOff([missing("x", ""), missing("a", "host: {}"), missing("b", "host: {}")]);
  expect(groups.map(({ config, missing: held }) => [config, held.map(({ id }) => id)])).toEqual([
    ["host: {}", ["a", "b"]],
    ["", ["x"]],
  ]);
});

it("draws the direct causes only: what a cause follows from is said by its own arrow", () => {
  const chain = [
    finding("slow"),
    finding("pool", { because_of: ["slow"] }),
    finding("timeouts", { because_of: ["slow", "pool", "gone"] }),
  ];
  expect(directCauses(chain)).toEqual([[], [0], [1]]);
});

it("draws no circle of two that are said to follow from each other", () => {
  const pair = [finding("a", { because_of: ["b"] }), finding("b", { because_of: ["a", "b"] })];
  expect(directCauses(pair)).toEqual([[], [0]]);
});

it("gives arrows that pass each other lanes of their own", () => {
  const edges = edgesOf([[], [0], [0], [1], [0]]);
  const lane = (from: number, to: number) => edges.find((edge) => edge.from === from && edge.to === to)?.lane;
  expect(lane(0, 1)).toBe(0);
  const others = [lane(0, 2), lane(1, 3), lane(0, 4)];
  expect(others).not.toContain(0);
  expect(new Set(others).size).toBe(3);
});

it("says which links of the chain there is evidence of", () => {
  const one = finding("pool", { evidence: [evidence(), evidence({ link: "effect" })] });
  expect(chainOf(one).map(({ link, seen }) => `${link} ${seen}`)).toEqual([
    "limit true",
    "demand false",
    "effect true",
  ]);
});

it("finds a time in a small chart: a value ends at its instant", () => {
  const chart = { start_ms: 1000, step_ms: 1000, values: [1, 2, 3] };
  expect([1000, 1001, 2000, 2001, 4000, 4001].map((ms) => placeIn(chart, ms))).toEqual([null, 0, 0, 1, 2, null]);
});

it("names each collector once in the lines to paste, and leaves out what only some systems have", () => {
  const given = [
    missing("a", "host: {}"),
    missing("b", "host: {}\nprocess:\n  port: 3306"),
    missing("c", "process:\n  port: 8080"),
    { ...missing("d", "timeouts:\n  app: 75s"), usual: false },
    missing("e", ""),
  ];
  expect(usualLines(given)).toBe("host: {}\nprocess:\n  port: 3306");
});

it("draws what is said first: its limit where that has a chart, else what has one", () => {
  const chart = { start_ms: 0, step_ms: 1000, values: [null, 1] };
  const demand = evidence({ link: "demand", chart });
  const limit = evidence({ link: "limit", chart });
  const pool = finding("pool", { evidence: [demand, limit] });
  expect(firstEvidence(diagnosis(), [finding("noise", { severity: "info" }), pool])?.evidence).toBe(limit);
  const undrawn = { ...limit, chart: { ...chart, values: [null, null] } };
  expect(firstEvidence(diagnosis(), [finding("pool", { evidence: [undrawn, demand] })])?.evidence).toBe(demand);
  // Not of what comes later: that would be another thing than the sentence says.
  const zeros = evidence({ chart: { start_ms: 0, step_ms: 1000, values: [0, null, 0] } });
  expect(firstEvidence(diagnosis(), [finding("pool", { evidence: [zeros, demand] })])?.evidence).toBe(demand);
  expect(firstEvidence(diagnosis(), [finding("pool", { evidence: [zeros] })])?.evidence).toBe(zeros);
  expect(firstEvidence(diagnosis(), [finding("pool", { evidence: [undrawn] }), pool])).toBeNull();
  expect(firstEvidence(null, [pool])).toBeNull();
});
