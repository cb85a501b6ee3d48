import { expect, it } from "vitest";
import { changeGroups, filterSettings, settingRows, settingText } from "./changes";

it("what was set on purpose leads, what matters little is on demand", () => {
  const change = (deliberate: boolean, important: boolean) => ({ deliberate, important });
  const groups = changeGroups([change(false, false), change(false, true), change(true, false), change(true, true)]);
  expect([groups.deliberate.length, groups.drift.length, groups.rest.length]).toEqual([2, 1, 1]);
});

it("settings are one row with their value before and after", () => {
  const setting = (key: string, value: string) => ({ target: "mysql db:3306", section: "pool", key, value, unit: "" });
  const rows = settingRows(
    [setting("max_connections", "151"), setting("gone", "1")],
    [setting("max_connections", "300")],
  );
  expect(rows.map(({ key, before, after }) => [key, before, after])).toEqual([
    ["max_connections", "151", "300"],
    ["gone", "1", null],
  ]);
  expect(filterSettings(rows, "db 300")).toHaveLength(1);
});

it("numbers of settings are written as people read them, words stay", () => {
  expect(settingText("134217728", "bytes", "en")).toBe("128 MiB");
  expect(settingText("1900000", "rows", "en")).toBe("1,900,000 rows");
  expect(settingText("300", "", "en")).toBe("300");
  expect(settingText("8.0.36", "", "en")).toBe("8.0.36");
  expect(settingText("READ-COMMITTED", "", "en")).toBe("READ-COMMITTED");
});
