/** Where data lies on the screen: the plot area in pixels and the domains of both axes. Pure. */

import type { Domain } from "@/lib/ticks";
import type { Range } from "@/lib/time/time";

export interface Geometry {
  /** Plot area in the chart's own pixels. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly range: Range;
  readonly domain: Domain;
}

export function xOf(geometry: Geometry, timeMs: number): number {
  const { range } = geometry;
  return geometry.x + ((timeMs - range.startMs) / Math.max(1, range.endMs - range.startMs)) * geometry.width;
}

export function yOf(geometry: Geometry, value: number): number {
  const { domain } = geometry;
  const span = domain.max - domain.min || 1;
  return geometry.y + geometry.height - ((value - domain.min) / span) * geometry.height;
}

export function timeOf(geometry: Geometry, x: number): number {
  const { range } = geometry;
  const share = Math.min(1, Math.max(0, (x - geometry.x) / Math.max(1, geometry.width)));
  return range.startMs + share * (range.endMs - range.startMs);
}
