/** Where the lines of a ladder of timeouts lie, and which of them are joined. Pure. */
import type { TimeoutCheck, TimeoutLadder, TimeoutRung } from "@/api/timeouts/types";

/** Share of the width that finite values take; "for ever" stands at the right edge. */
const FINITE_SHARE = 0.92;
const TICKS = [0.001, 0.01, 0.1, 1, 10, 60, 600, 3600, 36_000, 86_400, 604_800] as const;

export interface Axis {
  /** Seconds at the left edge. */
  readonly from: number;
  /** Seconds at the end of the finite part. */
  readonly to: number;
  readonly ticks: readonly number[];
}

export interface FaultMark {
  readonly number: number;
  readonly severity: TimeoutCheck["severity"];
}

export interface LadderRow {
  readonly key: string;
  readonly title: string;
  /** Null: not known. */
  readonly rung: TimeoutRung | null;
  /** Share of the width, 0 to 1; null where nothing is known. */
  readonly position: number | null;
  /** The faults that this row is part of. */
  readonly faults: readonly FaultMark[];
}

export interface LadderLayer {
  readonly layer: string;
  readonly title: string;
  readonly rows: readonly LadderRow[];
}

/** A row's place from the top: so many layer heads and so many rows stand above it. */
export interface Depth {
  readonly heads: number;
  readonly rows: number;
}

/** A wrong pair, as drawn: from the end of the one that ends too early, over to the row of the other. */
export interface Join {
  readonly number: number;
  readonly severity: TimeoutCheck["severity"];
  /** Where the timeout ends that should end later. */
  readonly early: number;
  /** Where the timeout ends that should end earlier. */
  readonly late: number;
  readonly earlyAt: Depth;
  readonly lateAt: Depth;
}

export interface LadderView {
  readonly axis: Axis;
  readonly layers: readonly LadderLayer[];
  readonly joins: readonly Join[];
  /** Checks that found something wrong; the number of each is its place, from 1. */
  readonly faults: readonly TimeoutCheck[];
  readonly unknown: readonly TimeoutCheck[];
  readonly right: readonly TimeoutCheck[];
}

/** The axis that holds all finite values, at least from 1 s to 10 min. */
export function buildAxis(seconds: readonly number[]): Axis {
  const positive = seconds.filter((one) => one > 0);
  const from = 10 ** Math.floor(Math.log10(Math.max(0.001, Math.min(1, ...positive))));
  const to = Math.max(600, ...positive) * 1.25;
  return { from, to, ticks: TICKS.filter((tick) => tick >= from && tick <= to) };
}

/** Share of the width at which a value lies; null seconds are "for ever". */
export function position(seconds: number | null, axis: Axis): number {
  if (seconds === null) return 1;
  const share = Math.log(Math.max(seconds, axis.from) / axis.from) / Math.log(axis.to / axis.from);
  return share * FINITE_SHARE;
}

export function buildLadder(ladder: TimeoutLadder): LadderView {
  const rungs = ladder.layers.flatMap((layer) => layer.rungs);
  const axis = buildAxis(rungs.flatMap((rung) => (rung.seconds === null ? [] : [rung.seconds])));
  const faults = ladder.checks.filter((check) => check.verdict === "wrong");
  const marksOf = (id: string): readonly FaultMark[] =>
    faults.flatMap(({ shorter, longer, severity }, index) =>
      shorter === id || longer === id ? [{ number: index + 1, severity }] : [],
    );
  const layers = ladder.layers.map((layer) => ({
    layer: layer.layer,
    title: layer.title,
    rows: [
      ...layer.rungs.map((rung) => ({
        key: rung.id,
        title: rung.title,
        rung,
        position: position(rung.seconds, axis),
        faults: marksOf(rung.id),
      })),
      ...layer.missing.map((one) => ({
        key: `${one.layer}.${one.kind}`,
        title: one.title,
        rung: null,
        position: null,
        faults: [],
      })),
    ],
  }));
  return {
    axis,
    layers,
    joins: faults.flatMap((check, index) => joinOf(check, index + 1, layers)),
    faults,
    unknown: ladder.checks.filter((check) => check.verdict === "unknown"),
    right: ladder.checks.filter((check) => check.verdict === "right"),
  };
}

function joinOf(check: TimeoutCheck, number: number, layers: readonly LadderLayer[]): readonly Join[] {
  const late = find(check.shorter, layers);
  const early = find(check.longer, layers);
  if (late === null || early === null) return [];
  return [
    {
      number,
      severity: check.severity,
      early: early.position,
      late: late.position,
      earlyAt: early.depth,
      lateAt: late.depth,
    },
  ];
}

function find(id: string | null, layers: readonly LadderLayer[]) {
  let rows = 0;
  for (const [index, layer] of layers.entries()) {
    for (const [place, row] of layer.rows.entries()) {
      if (row.key === id && row.position !== null)
        return { position: row.position, depth: { heads: index + 1, rows: rows + place } };
    }
    rows += layer.rows.length;
  }
  return null;
}
