import { expect, it } from "vitest";
import type { KeyFigure } from "@/api/runs/types";
import { changeOf } from "./key-figure-model";

const figure = (part: Partial<KeyFigure>): KeyFigure => ({
  ...{ id: "p95", unit: "seconds", value: 0.2, window: "steady", against: null, base: "", threshold: "" },
  ...{ state: null, kinds: [], note: "", ...part },
});

it("a figure stands beside the baseline's of the same part of a run, and beside no other", () => {
  expect(changeOf(figure({}), figure({ value: 0.1 }))).toEqual({ relative: 1 });
  expect(changeOf(figure({}), figure({ value: 0 }))).toEqual({ relative: null });
  expect(changeOf(figure({}), figure({ window: "whole" }))).toBeNull();
  expect(changeOf(figure({}), figure({ value: null }))).toBeNull();
  expect(changeOf(figure({ value: null }), figure({}))).toBeNull();
  expect(changeOf(figure({}), undefined)).toBeNull();
  expect(changeOf(figure({ unit: "count" }), figure({ unit: "count" }))).toBeNull();
});
