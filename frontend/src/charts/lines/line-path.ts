/** SVG path text of a series, rebuilt only from the first point that changed. */

import { type Grid, indexRange, type Values } from "@/lib/series/series";
import { type Geometry, xOf, yOf } from "./geometry";

/** A tenth of a pixel is finer than any screen shows, and keeps the text short. */
function px(value: number): number {
  return Math.round(value * 10) / 10;
}

interface Held {
  readonly geometry: Geometry;
  readonly stepMs: number;
  readonly startMs: number;
  readonly values: Values;
  readonly parts: string[];
}

/**
 * Keeps one text per point, so that a live update formats the new points only. A gap lifts the pen; a value between
 * two gaps becomes a dot (a line of no length with round caps).
 */
export class LinePath {
  private held: Held | null = null;
  private readonly stepped: boolean;
  /** Points formatted by the last `update`, for tests of the cost. */
  formatted = 0;

  constructor(stepped: boolean) {
    this.stepped = stepped;
  }

  update(grid: Grid, all: Values, geometry: Geometry): string {
    const [inside, end] = indexRange(grid, geometry.range.startMs, geometry.range.endMs);
    // One point beyond each side lets lines run off the plot in place of stopping short.
    const first = Math.max(0, inside - 1);
    const values = all.slice(first, Math.min(grid.count, end + 1));
    const startMs = grid.startMs + first * grid.stepMs;
    const { parts, from } = this.reuse(grid.stepMs, startMs, values, geometry);
    this.formatted = 0;
    for (let index = from; index < values.length; index += 1) {
      parts[index] = this.part(values, index, startMs + index * grid.stepMs, geometry);
      this.formatted += 1;
    }
    this.held = { geometry, stepMs: grid.stepMs, startMs, values, parts };
    return parts.join("");
  }

  private part(values: Values, index: number, timeMs: number, geometry: Geometry): string {
    const value = values[index];
    if (value === null || value === undefined) return "";
    const x = px(xOf(geometry, timeMs));
    const y = px(yOf(geometry, value));
    const before = index > 0 ? values[index - 1] : null;
    if (before === null || before === undefined) {
      const after = values[index + 1];
      return after === null || after === undefined ? `M${x},${y}h0` : `M${x},${y}`;
    }
    return this.stepped ? `H${x}V${y}` : `L${x},${y}`;
  }

  /** Parts that still hold, and the first index that must be formatted anew. */
  private reuse(
    stepMs: number,
    startMs: number,
    values: Values,
    geometry: Geometry,
  ): { parts: string[]; from: number } {
    const held = this.held;
    if (held === null || held.geometry !== geometry || held.stepMs !== stepMs || startMs < held.startMs) {
      return { parts: [], from: 0 };
    }
    const shift = (startMs - held.startMs) / stepMs;
    if (!Number.isInteger(shift) || shift >= held.values.length) return { parts: [], from: 0 };
    const parts = held.parts.slice(shift, shift + values.length);
    let same = 0;
    while (same < parts.length && held.values[shift + same] === values[same]) same += 1;
    // Whether a point is a dot depends on its successor, so the last kept one is made again.
    const from = Math.max(0, same - 1);
    if (shift > 0 && from > 0) parts[0] = this.part(values, 0, startMs, geometry);
    return { parts, from };
  }
}

/**
 * Closed path between `tops` and `bases`, one area per run of points that have a top.
 * `bases` null stands for the axis at zero.
 */
export function areaPath(grid: Grid, tops: Values, bases: Values | null, geometry: Geometry): string {
  const [inside, end] = indexRange(grid, geometry.range.startMs, geometry.range.endMs);
  const last = Math.min(grid.count, end + 1);
  let path = "";
  let upper = "";
  let lower = "";
  const close = () => {
    if (upper !== "") path += `M${upper}${lower}Z`;
    upper = "";
    lower = "";
  };
  for (let index = Math.max(0, inside - 1); index < last; index += 1) {
    const top = tops[index];
    if (top === null || top === undefined) {
      close();
      continue;
    }
    const x = px(xOf(geometry, grid.startMs + index * grid.stepMs));
    upper += `${upper === "" ? "" : "L"}${x},${px(yOf(geometry, top))}`;
    lower = `L${x},${px(yOf(geometry, bases?.[index] ?? 0))}${lower}`;
  }
  close();
  return path;
}
