import { expect, it } from "vitest";
import type { TimeoutCheck, TimeoutLadder, TimeoutRung } from "@/api/timeouts/types";
import { buildAxis, buildLadder, position } from "./ladder";

type Layer = TimeoutLadder["layers"][number];

function rung(layer: Layer["layer"], kind: TimeoutRung["kind"], seconds: number | null): TimeoutRung {
  return {
    ...{ id: `${layer}.${kind}.${seconds ?? "inf"}`, layer, kind, title: kind, seconds, text: `${seconds} s` },
    ...{ at_least: false, in_force: true, said: [], names: [], last_ms: 0 },
  };
}

function layer(name: Layer["layer"], rungs: TimeoutRung[], missing: Layer["missing"] = []): Layer {
  return { layer: name, title: name, rungs, missing };
}

function check(verdict: TimeoutCheck["verdict"], shorter: string | null, longer: string | null): TimeoutCheck {
  return {
    ...{ rule: `${shorter} < ${longer}`, severity: "error", verdict, title: "", consequence: "", remedy: "" },
    ...{ reference: "", shorter, longer, missing: [] },
  };
}

const LADDER: TimeoutLadder = {
  job: "shop",
  direct: false,
  layers: [
    layer("client", [rung("client", "request", 90)]),
    layer("load_balancer", [rung("load_balancer", "idle", 60)]),
    layer(
      "app",
      [rung("app", "write", null), rung("app", "idle", 30)],
      [{ layer: "app", kind: "handler", title: "handler", hint: "" }],
    ),
  ],
  checks: [
    check("wrong", "load_balancer.idle.60", "app.idle.30"),
    check("wrong", "app.write.inf", "load_balancer.idle.60"),
    check("unknown", null, null),
    check("right", "load_balancer.idle.60", "client.request.90"),
  ],
};

it("the axis holds every value, and a useful span without any", () => {
  const plain = buildAxis([]);
  expect([plain.from, plain.ticks]).toEqual([1, [1, 10, 60, 600]]);
  const wide = buildAxis([0, 0.25, 60, 28_800]);
  expect(wide.from).toBe(0.1);
  expect(wide.to).toBeGreaterThan(28_800);
  for (const axis of [plain, wide])
    for (const seconds of [0, 0.25, 1, 60]) {
      expect(position(seconds, axis)).toBeGreaterThanOrEqual(0);
      expect(position(seconds, axis)).toBeLessThan(1);
    }
  expect(position(null, plain)).toBe(1);
});

it("longer is further to the right, tenfold by the same step", () => {
  const axis = buildAxis([]);
  expect(position(10, axis) - position(1, axis)).toBeCloseTo(position(100, axis) - position(10, axis));
});

it("wrong pairs are joined, numbered in the order of the checks", () => {
  const view = buildLadder(LADDER);
  expect(view.faults.map((one) => one.rule)).toEqual([
    "load_balancer.idle.60 < app.idle.30",
    "app.write.inf < load_balancer.idle.60",
  ]);
  const [first, second] = view.joins;
  expect(first).toMatchObject({ number: 1, lateAt: { heads: 2, rows: 1 }, earlyAt: { heads: 3, rows: 3 } });
  expect(first?.early).toBeLessThan(first?.late ?? 0);
  expect(second).toMatchObject({ number: 2, late: 1, lateAt: { heads: 3, rows: 2 }, earlyAt: { heads: 2, rows: 1 } });
  const numbers = view.layers.flatMap((one) => one.rows.map((row) => [row.key, row.faults.map((mark) => mark.number)]));
  expect(numbers).toContainEqual(["load_balancer.idle.60", [1, 2]]);
  expect(numbers).toContainEqual(["client.request.90", []]);
  expect(view.unknown).toHaveLength(1);
  expect(view.right).toHaveLength(1);
});

it("what is not known has a row without a line", () => {
  const rows = buildLadder(LADDER).layers.at(-1)?.rows ?? [];
  expect(rows.map((row) => row.position === null)).toEqual([false, false, true]);
});

it("a fault of one timeout alone joins nothing", () => {
  const view = buildLadder({ ...LADDER, checks: [check("wrong", "app.write.inf", null)] });
  expect(view.joins).toEqual([]);
  expect(view.layers[2]?.rows[0]?.faults).toEqual([{ number: 1, severity: "error" }]);
});
