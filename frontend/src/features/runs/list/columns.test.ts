import { expect, it } from "vitest";
import { decodeColumns, encodeColumns, parameterColumn, shownColumns, toggleColumn, USUAL } from "./columns";

const names = (columns: readonly string[]) =>
  shownColumns(columns).map((one) => ("column" in one ? one.column.id : `=${one.parameter}`));

it("shows the usual columns and keeps what is chosen in the address, parameters where they belong", () => {
  expect(decodeColumns([])).toEqual(USUAL);
  expect(encodeColumns(USUAL)).toEqual([]);
  const chosen = toggleColumn(toggleColumn(USUAL, "started"), parameterColumn("pool, size"));
  expect(decodeColumns(encodeColumns(chosen))).toEqual(chosen);
  expect(names(chosen).slice(0, 5)).toEqual(["verdict", "name", "limit", "parameters", "=pool, size"]);
  expect(encodeColumns(toggleColumn(toggleColumn(chosen, "started"), parameterColumn("pool, size")))).toEqual([]);
});

it("never goes without what a line is opened by, nor takes what it does not know", () => {
  expect(decodeColumns(["p95", "colour", "p95"])).toEqual(["verdict", "name", "p95"]);
  expect(decodeColumns(["colour"])).toEqual(USUAL);
});
