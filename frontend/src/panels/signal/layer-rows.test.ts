import { expect, it } from "vitest";
import type { Answer, Series } from "@/lib/series/series";
import type { PanelInfo } from "@/panels/panel-catalogue";
import { hostMatrix, layerRows, MOST_ROWS } from "./layer-rows";

const MINUTE = 60_000;
const panel: PanelInfo = {
  ...{ id: "p", title: "P", unit: "count", help: "", stacked: true, table: true },
  signals: [
    {
      ...{ id: "a", total: "sum", unit: "count", group: "g", title: "a", help: "", orientation: "neutral" },
      ...{ legend: "{{db}} {{id}} {{text}}", expression: "a", layers: ["id", "text"], limit: false },
      panel: { id: "p", title: "P", stacked: true, table: true },
      delivery: { source: "Performance Insights", period_ms: MINUTE, events: false },
    },
  ],
};
const part = (db: string, text: string | null, values: (number | null)[]): Series => ({
  name: "",
  labels: text === null ? { db } : { db, id: text.slice(0, 8), text },
  values,
});
function answer(series: Series[]): Answer {
  const results = [{ signal: "a", series, error: null, newestMs: 4 * MINUTE }];
  return { startMs: 0, stepMs: MINUTE, count: 5, reduced: false, completeMs: 0, results };
}

it("means are over what the instance has delivered, and the rest is a row", () => {
  const found = layerRows(
    panel,
    answer([
      part("shop", "select 1", [null, 1, 1, 1, 1]),
      // Among the greatest in one minute of four.
      part("shop", "update t", [null, null, 8, null, null]),
      part("shop", null, [null, 1, 1, 1, 1]),
    ]),
  );
  expect(found.rows).toMatchObject([
    { name: "update t", mean: 2, share: 0.5, instance: null },
    { name: "select 1", mean: 1, share: 0.25 },
    { name: null, mean: 1, share: 0.25 },
  ]);
  expect(found.window).toEqual({ fromMs: 0, toMs: 4 * MINUTE });
});

it("several instances are told apart, each by what it has delivered itself", () => {
  const { rows, instances } = layerRows(
    panel,
    answer([part("one", "select 1", [2, 2, 2, 2, 2]), part("two", "select 1", [null, null, null, 3, 3])]),
  );
  expect(instances).toBe(2);
  expect(rows.map(({ instance, mean }) => [instance, mean])).toEqual([
    ["two", 3],
    ["one", 2],
  ]);
});

it("beyond the most rows the rest is pooled, and nothing is lost", () => {
  const many = Array.from({ length: 30 }, (_, index) => part("shop", `select ${index}`, [1, 1, 1, 1, 1]));
  const { rows } = layerRows(panel, answer(many));
  expect(rows).toHaveLength(MOST_ROWS + 1);
  expect(rows.at(-1)).toMatchObject({ name: null, mean: 20 });
  expect(rows.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
});

it("nothing delivered is no row", () => {
  expect(layerRows(panel, answer([]))).toEqual({ rows: [], window: null, instances: 0 });
  expect(layerRows(panel, answer([part("shop", "select 1", [null, null, null, null, null])])).rows).toEqual([]);
});

it("connections stand from host to host, with each host's share of all", () => {
  const between = (instance: string, to: string, values: (number | null)[]): Series => ({
    name: "",
    labels: { instance, to },
    values,
  });
  const found = hostMatrix(
    panel,
    answer([
      between("app-1", "db", [1, 30, 30, 30, null]),
      between("app-2", "db", [10, 10, 10, 10, 10]),
      between("app-2", "203.0.113.5", [null, null, 10, 10, 10]),
      between("gone", "db", [null, null, null, null, null]),
    ]),
  );
  expect(found).toEqual({
    from: ["app-1", "app-2"],
    to: ["db", "203.0.113.5"],
    cells: [
      [30, null],
      [10, 10],
    ],
    shares: [0.6, 0.4],
  });
});
