/** SVG path text of values that each stand for the period before their time. Pure. */

import { type Grid, timeAt, type Values } from "@/lib/series/series";
import { type Geometry, xOf, yOf } from "./geometry";

/** A tenth of a pixel is finer than any screen shows. */
function px(value: number): number {
  return Math.round(value * 10) / 10;
}

interface Piece {
  readonly fromMs: number;
  readonly toMs: number;
  readonly index: number;
  /** Begins where the one before ends. */
  readonly joined: boolean;
}

function piecesOf(grid: Grid, values: Values, periodMs: number, reduced: boolean): readonly Piece[] {
  const pieces: Piece[] = [];
  const most = Math.min(grid.count, values.length);
  for (let index = 0; index < most; index += 1) {
    if (values[index] === null) continue;
    const toMs = timeAt(grid, index);
    const before = pieces.at(-1);
    const apart = before === undefined ? Number.POSITIVE_INFINITY : toMs - before.toMs;
    // A reduced grid puts a value anywhere into its bucket of two steps.
    const joined = apart <= periodMs + (reduced ? 2.5 : 0.5) * grid.stepMs;
    const fromMs = toMs - periodMs;
    pieces.push({ fromMs: joined && before !== undefined ? before.toMs : fromMs, toMs, index, joined });
  }
  return pieces;
}

/** Steps: a level over each period, upright where one follows another, nothing where a period has no value. */
export function periodPath(grid: Grid, values: Values, periodMs: number, reduced: boolean, place: Geometry): string {
  return piecesOf(grid, values, periodMs, reduced)
    .map(({ fromMs, toMs, index, joined }) => {
      const y = px(yOf(place, values[index] ?? 0));
      return `${joined ? `V${y}` : `M${px(xOf(place, fromMs))},${y}`}H${px(xOf(place, toMs))}`;
    })
    .join("");
}

/** One closed box for each period between a lower and an upper value. */
export function bandPath(
  grid: Grid,
  tops: Values,
  floors: Values,
  periodMs: number,
  reduced: boolean,
  place: Geometry,
): string {
  return piecesOf(grid, tops, periodMs, reduced)
    .map(({ fromMs, toMs, index }) => {
      const top = px(yOf(place, tops[index] ?? 0));
      const floor = px(yOf(place, floors[index] ?? 0));
      return `M${px(xOf(place, fromMs))},${top}H${px(xOf(place, toMs))}V${floor}H${px(xOf(place, fromMs))}Z`;
    })
    .join("");
}

/** The value whose period covers a time; null where none does. `timeMs` itself belongs to the period that it ends. */
export function coveringIndex(grid: Grid, values: Values, periodMs: number, timeMs: number): number | null {
  const first = Math.max(0, Math.ceil((timeMs - grid.startMs) / grid.stepMs));
  for (let index = first; index < Math.min(grid.count, values.length); index += 1) {
    if (timeAt(grid, index) - timeMs >= periodMs) return null;
    if (values[index] !== null) return index;
  }
  return null;
}
