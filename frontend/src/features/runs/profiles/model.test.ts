// @vitest-environment node
import { describe, expect, it } from "vitest";
import type { Profile, ProfileList } from "@/api/profiles/types";
import { baseOf, choicesOf, formatOf, growth, kindsOf, signed, sortFunctions } from "./model";

const profile = (id: string, more: Partial<Profile> = {}): Profile => ({
  ...{ id, name: `${id}.pb.gz`, kind: "cpu", job: "shop", instance: "web-1", at_ms: 0, seconds: 10, cause: "run" },
  ...{ asked_by: "", bytes: 1, requests: 100, requests_by: "load_tool" as const },
  ...more,
});
const list = (profiles: Profile[], base: Profile[] | null): ProfileList => ({
  profiles,
  base: base === null ? null : { run: "before", name: "Before", profiles: base },
  baseline: base === null ? null : "before",
  bases: [],
});

describe("choices", () => {
  const profiles = [
    profile("a"),
    profile("b", { instance: "web-2" }),
    profile("c", { cause: "alert" }),
    profile("d", { kind: "heap" }),
    profile("e", { kind: "other", cause: "upload" }),
  ];

  it("put all processes of a run together, and each profile by itself", () => {
    const found = choicesOf(profiles, "cpu");
    expect(found.map(({ id }) => id)).toEqual(["all", "a", "b", "c"]);
    expect(found[0]?.profiles.map(({ id }) => id)).toEqual(["a", "b"]);
    expect(choicesOf(profiles, "heap").map(({ id }) => id)).toEqual(["d"]);
  });

  it("list kinds by use", () => {
    expect(kindsOf(profiles)).toEqual(["cpu", "heap", "other"]);
  });

  it("are held against the same process, else against all of the kind", () => {
    const before = [profile("x", { instance: "web-2" }), profile("y"), profile("z", { kind: "heap" })];
    const [all, a, b] = choicesOf(profiles, "cpu");
    const held = list(profiles, before);
    const ids = (choice: typeof all) => (choice === undefined ? [] : baseOf(held, choice).map(({ id }) => id));
    expect(ids(all)).toEqual(["x", "y"]);
    expect(ids(a)).toEqual(["y"]);
    expect(ids(b)).toEqual(["x"]);
    expect(ids({ id: "q", profiles: [profile("q", { instance: "web-9" })] })).toEqual(["x", "y"]);
    expect(baseOf(list(profiles, null), { id: "a", profiles: [profile("a")] })).toEqual([]);
  });
});

describe("values", () => {
  it("are written in units that people read", () => {
    expect(formatOf("nanoseconds", "en")(1_234_000_000)).toBe("1.23 s");
    expect(formatOf("bytes", "en")(2048)).toBe("2 KiB");
    expect(formatOf("count", "ja")(12)).toBe("12");
    expect(formatOf("parsecs", "en")(3)).toBe("3");
  });

  it("have a sign where they are differences", () => {
    const format = formatOf("count", "en");
    expect([signed(3, format), signed(-3, format), signed(0, format)]).toEqual(["+3", "−3", "±0"]);
    expect([growth(3, 2), growth(1, 2), growth(1, 0)]).toEqual([50, -50, null]);
  });

  it("are sorted by the size of a change, whatever its sign", () => {
    const row = (name: string, flat: number, base: number) => ({
      ...{ name, file: "", flat, cum: flat, base_flat: base, base_cum: base, words: null },
    });
    const rows = [row("a", 5, 5), row("b", 1, 9), row("c", 7, 6)];
    expect(sortFunctions(rows, "change", true).map(({ name }) => name)).toEqual(["b", "c", "a"]);
    expect(sortFunctions(rows, "flat", true).map(({ name }) => name)).toEqual(["c", "a", "b"]);
    expect(sortFunctions(rows, "name", false).map(({ name }) => name)).toEqual(["a", "b", "c"]);
  });
});
