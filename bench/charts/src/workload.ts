/** The load of the bench: 12 charts of 4 series, 600 points at 1 s, with run bands and annotation lines. */

import type { ChartBand, ChartNote } from "@/charts/chart-types";
import { type Answer, mergeAnswer, trimAnswer } from "@/lib/series/series";
import { liveRange, type Range } from "@/lib/time/time";
import type { Unit } from "@/lib/units";

export const CHARTS = 12;
export const SERIES = 4;
export const POINTS = 600;
export const UNITS: readonly Unit[] = ["per_second", "seconds", "ratio", "bytes", "count", "bytes_per_second"];
const NAMES = ["sent", "balancer", "accepted", "stored"];
const SCALES: Readonly<Record<Unit, number>> = {
  per_second: 1200,
  seconds: 0.08,
  ratio: 0.6,
  bytes: 3e8,
  count: 140,
  bytes_per_second: 2e7,
};

export interface Frame {
  readonly answer: Answer;
  readonly range: Range;
  readonly nowMs: number;
  readonly bands: readonly ChartBand[];
  readonly notes: readonly ChartNote[];
}

/** A repeatable wander with spikes; a gap now and then. */
function valueAt(chart: number, series: number, second: number): number | null {
  if (series === 3 && second % 211 < 3) return null;
  const scale = SCALES[UNITS[chart % UNITS.length] ?? "count"];
  const slow = Math.sin(second / (60 + chart * 7) + series);
  const fast = Math.sin(second * (1.3 + series * 0.7) + chart) * Math.sin(second * 0.37 + series);
  const noise = ((Math.imul(second + 1, 2654435761 + chart * 40503 + series * 97) >>> 8) & 0xffff) / 0xffff;
  const spike = (second + chart * 13) % 97 === 0 ? 0.5 : 0;
  return Math.max(0, scale * (0.6 - series * 0.09 + slow * 0.15 + fast * 0.05 + (noise - 0.5) * 0.06 + spike * 0.4));
}

function answer(fromSecond: number, count: number): Answer {
  return {
    startMs: fromSecond * 1000,
    stepMs: 1000,
    count,
    reduced: false,
    completeMs: (fromSecond + count - 1) * 1000,
    results: Array.from({ length: CHARTS }, (_, chart) => ({
      signal: `chart-${chart}`,
      error: null,
      series: NAMES.map((name, series) => ({
        name,
        labels: {},
        values: Array.from({ length: count }, (_, index) => valueAt(chart, series, fromSecond + index)),
      })),
    })),
  };
}

const START = Math.floor(Date.UTC(2026, 10, 21, 10, 0, 7) / 1000);
const BANDS: readonly ChartBand[] = [
  { id: "run-1", label: "run 41: default pool", startMs: (START - 480) * 1000, endMs: (START - 300) * 1000 },
  { id: "run-2", label: "run 42: bounded pool", startMs: (START - 200) * 1000, endMs: null },
];
const NOTES: readonly ChartNote[] = [
  { id: "note-1", text: "deployed 3f2a", author: "Aiko", startMs: (START - 420) * 1000, endMs: null },
  { id: "note-2", text: "doubled max_connections", startMs: (START - 90) * 1000, endMs: null },
  { id: "note-3", text: "slow disk", startMs: (START - 260) * 1000, endMs: (START - 240) * 1000 },
];

/** Advances as a live page does: the last two seconds are asked again, joined, and the front trimmed. */
export class Workload {
  private second = START;
  private held: Answer = answer(START - POINTS + 1, POINTS);

  frame(): Frame {
    const nowMs = this.second * 1000;
    return { answer: this.held, range: liveRange(nowMs, POINTS * 1000), nowMs, bands: BANDS, notes: NOTES };
  }

  advance(): Frame {
    this.second += 1;
    const merged = mergeAnswer(this.held, answer(this.second - 1, 2));
    this.held = trimAnswer(merged, liveRange(this.second * 1000, POINTS * 1000).startMs - 2000);
    return this.frame();
  }
}
