import { expect, it } from "vitest";
import type { Mute } from "@/api/findings/types";
import { finding } from "@/testing/finding-fixtures";
import { mutedLabels, muteOf } from "./opinions";

const mute = (id: number, finding_id: string, labels: Record<string, string>): Mute => ({
  ...{ id, finding_id, labels, reason: "", author: "", said_ms: 0 },
});

it("finds the mute that holds a finding back: by its kind, and by all labels that it names", () => {
  const one = finding("pool", { labels: { job: "shop", instance: "a" } });
  expect(
    muteOf(one, [mute(1, "pool", { instance: "b" }), mute(2, "disk", {}), mute(3, "pool", { instance: "a" })])?.id,
  ).toBe(3);
  expect(muteOf(one, [mute(4, "pool", {})])?.id).toBe(4);
  expect(muteOf(one, [mute(5, "pool", { instance: "a", zone: "x" })])).toBeNull();
});

it("mutes the target that the finding names, by as many labels as a mute may have", () => {
  expect(mutedLabels(finding("pool", { labels: { job: "shop" } }))).toEqual({ job: "shop" });
  const many = Object.fromEntries(["a", "b", "c", "d", "e", "f"].map((name) => [name, name]));
  expect(Object.keys(mutedLabels(finding("pool", { labels: many })))).toHaveLength(5);
});
