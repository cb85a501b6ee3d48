import { expect, it } from "vitest";
import { diagnosis, evidence, finding, headline, missing } from "@/testing/finding-fixtures";
import { beforeRun, chainOf, directCauses, edgesOf, firstEvidence, placeIn, switchedOff, usualLines } from "./model";

it("names apart what was over before the latest run began", () => {
  const old = [finding("pool", { before_run: true }), finding("disk", { before_run: true })];
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
  const headed = diagnosis({ headline: headline(pool) });
  const drawn = (...shown: ReturnType<typeof evidence>[]) =>
    firstEvidence(headed, [finding("noise"), finding("pool", { evidence: shown })])?.evidence;
  expect(drawn(demand, limit)).toBe(limit);
  const undrawn = { ...limit, chart: { ...chart, values: [null, null] } };
  expect(drawn(undrawn, demand)).toBe(demand);
  // Not of what comes later: that would be another thing than the sentence says.
  const zeros = evidence({ chart: { start_ms: 0, step_ms: 1000, values: [0, null, 0] } });
  expect(drawn(zeros, demand)).toBe(demand);
  expect(drawn(zeros)).toBe(zeros);
  expect(firstEvidence(headed, [finding("pool", { evidence: [undrawn] }), finding("disk")])).toBeNull();
  expect(firstEvidence(diagnosis({ headline: headline() }), [pool])).toBeNull();
  expect(firstEvidence(null, [pool])).toBeNull();
});
