import { expect, it } from "vitest";
import type { Profile, ProfileView } from "@/api/profiles/types";
import { cpuFiles, functionRows, routeLabels } from "./functions";

it("reads CPU profiles alone, a few of them", () => {
  const kinds = ["cpu", "mutex", ...Array.from({ length: 10 }, () => "cpu")];
  const files = cpuFiles(kinds.map((kind, place) => ({ id: `p${place}`, kind }) as Profile));
  expect(files).toEqual(["p0", "p2", "p3", "p4", "p5", "p6", "p7", "p8"]);
});

const view = {
  total: 10,
  functions: [
    { name: "main", flat: 0, cum: 10 },
    { name: "scan", flat: 3, cum: 4 },
    { name: "encode", flat: 5, cum: 5 },
  ],
  labels: [
    {
      key: "http.route",
      values: [
        { text: "/a", value: 2 },
        { text: "/b", value: 6 },
      ],
      without: 2,
    },
  ],
} as unknown as ProfileView;

it("names the functions that took most themselves", () => {
  expect(functionRows(view).map(({ name }) => name)).toEqual(["encode", "scan"]);
});

it("says the processor's time by route where stacks are labelled", () => {
  expect(routeLabels(view)).toEqual([
    { text: "/b", share: 0.6 },
    { text: "/a", share: 0.2 },
  ]);
  expect(routeLabels({ ...view, labels: [] })).toEqual([]);
});
