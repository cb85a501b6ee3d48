// @vitest-environment node
import { describe, expect, it } from "vitest";
import { timeTicks, valueDomain, valueTicks } from "@/lib/ticks";
import { DAY, HOUR, MINUTE, SECOND } from "@/lib/time/time";

describe("timeTicks", () => {
  const start = Date.UTC(2026, 10, 21, 10, 3, 17);

  it("places ticks at round times inside the range, no more than asked", () => {
    const { step, values } = timeTicks(start, start + 10 * MINUTE, 6, "utc");
    expect(step).toBe(2 * MINUTE);
    expect(values[0]).toBe(Date.UTC(2026, 10, 21, 10, 4));
    for (const span of [900, 10 * SECOND, 7 * MINUTE, 5 * HOUR, 3 * DAY, 400 * DAY, 4000 * DAY]) {
      const ticks = timeTicks(start, start + span, 8, "utc");
      expect(ticks.values.length).toBeGreaterThan(0);
      expect(ticks.values.length).toBeLessThanOrEqual(9);
      expect(ticks.values.every((time) => time >= start && time <= start + span)).toBe(true);
    }
  });

  it("puts days at midnight of the zone", () => {
    const utc = timeTicks(start, start + 5 * DAY, 6, "utc").values;
    expect(utc.every((time) => time % DAY === 0)).toBe(true);
    const local = timeTicks(start, start + 5 * DAY, 6, "local").values;
    expect(local.every((time) => new Date(time).getHours() === 0 && new Date(time).getMinutes() === 0)).toBe(true);
  });
});

describe("valueTicks", () => {
  it("is round in the unit's own steps", () => {
    expect(valueTicks({ min: 0, max: 1 }, 5, "ratio").values).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
    expect(valueTicks({ min: 0, max: 2 ** 30 }, 4, "bytes").step).toBe(2 ** 28);
    expect(valueTicks({ min: 0, max: 300 }, 5, "seconds").values).toEqual([0, 60, 120, 180, 240, 300]);
    expect(valueTicks({ min: 0, max: 2 }, 5, "count").values).toEqual([0, 1, 2]);
    expect(valueTicks({ min: -0.3, max: 0.3 }, 6, "per_second").values).toEqual([-0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3]);
  });
});

describe("valueDomain", () => {
  it("starts at zero and ends at a round value above the data", () => {
    expect(valueDomain(40, 151, "count", 5, null)).toEqual({ min: 0, max: 200 });
    expect(valueDomain(0, 0.03, "count", 5, null)).toEqual({ min: 0, max: 0.04 });
    expect(valueDomain(null, null, "count", 5, null)).toEqual({ min: 0, max: 1 });
    expect(valueDomain(-5, 20, "count", 5, null)).toEqual({ min: -10, max: 30 });
  });

  it("does not invent more than 100 % of a ratio", () => {
    expect(valueDomain(0, 1, "ratio", 5, null)).toEqual({ min: 0, max: 1 });
    expect(valueDomain(0, 1.3, "ratio", 5, null).max).toBeGreaterThan(1.3);
  });

  it("stays still while the data fits and uses half of it", () => {
    const former = { min: 0, max: 200 };
    expect(valueDomain(0, 199, "count", 5, former)).toBe(former);
    expect(valueDomain(0, 110, "count", 5, former)).toBe(former);
    expect(valueDomain(0, 60, "count", 5, former).max).toBeLessThan(100);
    expect(valueDomain(0, 201, "count", 5, former).max).toBeGreaterThan(201);
    expect(valueDomain(-5, 150, "count", 5, former).min).toBeLessThan(-5);
  });
});
