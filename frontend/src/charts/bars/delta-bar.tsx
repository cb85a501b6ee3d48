import { memo } from "react";
import "./delta-bar.css";
import "@/charts/palette.css";

interface DeltaBarProps {
  /** A relative difference with its interval. */
  readonly delta: number;
  readonly low: number | null;
  readonly high: number | null;
  /** Difference at either edge; what lies beyond is drawn at the edge. */
  readonly reach: number;
  readonly tone: "good" | "bad" | "plain";
  readonly width?: number;
}

const HEIGHT = 12;

/** A difference on a line whose middle is "no difference". Decoration: the figures stand beside it. */
export const DeltaBar = memo(function DeltaBar({ delta, low, high, reach, tone, width = 84 }: DeltaBarProps) {
  const middle = width / 2;
  const xOf = (value: number) => middle + Math.max(-1, Math.min(1, value / (reach || 1))) * (middle - 5);
  const y = HEIGHT / 2;
  return (
    <svg className="lw-delta" data-tone={tone} width={width} height={HEIGHT} aria-hidden="true">
      <path className="lw-delta-zero" d={`M${middle},0V${HEIGHT}M2,${y}H${width - 2}`} />
      {low !== null && high !== null && <path className="lw-delta-range" d={`M${xOf(low)},${y}H${xOf(high)}`} />}
      <path className="lw-delta-point" d={`M${xOf(delta)},${y - 4.5}l4.5,4.5l-4.5,4.5l-4.5,-4.5Z`} />
    </svg>
  );
});
