import { memo } from "react";
import "@/charts/palette.css";
import "./sparkline.css";
import { areaPath, LinePath } from "@/charts/lines/line-path";
import type { Values } from "@/lib/series/series";

interface SparklineProps {
  readonly values: Values;
  readonly width?: number;
  readonly height?: number;
  /** Value at the top; the greatest value by default. */
  readonly max?: number;
  /** A bound to draw as a dashed line, such as 1 for used/limit. */
  readonly bound?: number;
  /** Place of a value to mark with a dot. */
  readonly at?: number;
  /** Text alternative; without one the drawing is decoration. */
  readonly label?: string;
}

/** A line without axes in the colour of the text around it; gaps stay gaps. */
export const Sparkline = memo(function Sparkline(props: SparklineProps) {
  const { values, width = 96, height = 24, bound, at, label } = props;
  const greatest = values.reduce<number>((most, value) => Math.max(most, value ?? 0), 0);
  const max = Math.max(props.max ?? greatest, bound ?? 0) || 1;
  const count = values.length;
  const grid = { startMs: 0, stepMs: 1, count };
  const geometry = {
    ...{ x: 1, y: 1, width: width - 2, height: height - 2 },
    range: { startMs: 0, endMs: Math.max(1, count - 1) },
    domain: { min: 0, max },
  };
  const boundY = bound === undefined ? null : 1 + (1 - bound / max) * (height - 2);
  const marked = at === undefined ? null : (values[at] ?? null);
  const box = { className: "lw-sparkline", width, height, viewBox: `0 0 ${width} ${height}` };
  const drawing = (
    <>
      <path className="lw-sparkline-area" d={areaPath(grid, values, null, geometry)} />
      {boundY !== null && <path className="lw-sparkline-bound" d={`M0,${boundY}H${width}`} />}
      <path className="lw-sparkline-line" d={new LinePath(false).update(grid, values, geometry)} />
      {at !== undefined && marked !== null && (
        <circle
          className="lw-sparkline-mark"
          cx={1 + (at / Math.max(1, count - 1)) * (width - 2)}
          cy={1 + (1 - marked / max) * (height - 2)}
          r="2.5"
        />
      )}
    </>
  );
  if (label === undefined) {
    return (
      <svg {...box} aria-hidden="true">
        {drawing}
      </svg>
    );
  }
  return (
    <svg {...box} role="img" aria-label={label}>
      {drawing}
    </svg>
  );
});
