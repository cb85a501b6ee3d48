import { expect, test } from "vitest";
import type { EvidenceFile } from "@/api/evidence/types";
import { factTexts, isPicture, isShown } from "./model";

const file = (more: Partial<EvidenceFile>): EvidenceFile => ({
  id: "0".repeat(32),
  run: "r-1",
  kind: "attachment",
  name: "graph.png",
  media_type: "image/png",
  bytes: 10,
  sha256: "0".repeat(64),
  at_ms: 0,
  author: "",
  note: "",
  facts: {},
  ...more,
});

test("a picture is known by its content, and drawn when it is small enough", () => {
  expect(isPicture(file({}))).toBe(true);
  expect(isPicture(file({ media_type: "text/plain" }))).toBe(false);
  expect(isPicture(file({ media_type: "image/svg+xml" }))).toBe(false);
  expect(isPicture(file({ bytes: 9_000_000 }))).toBe(false);
});

test("short texts are shown", () => {
  expect(isShown(file({ media_type: "text/plain" }))).toBe(true);
  expect(isShown(file({ media_type: "text/plain", bytes: 1_000_000 }))).toBe(false);
  expect(isShown(file({ media_type: "application/octet-stream" }))).toBe(false);
});

test("a patch says its files, and what is not in it", () => {
  const facts = { files: 3, named: 1, untracked: 2, masked: 0 };
  expect(factTexts(file({ kind: "patch", facts }))).toEqual([
    ["patch", 3],
    ["named", 1],
  ]);
  expect(factTexts(file({ facts }))).toEqual([]);
  expect(factTexts(file({ kind: "patch", facts: { files: "3" } }))).toEqual([]);
});
