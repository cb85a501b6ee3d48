import { memo } from "react";
import type { Values } from "@/lib/series/series";
import { Sparkline } from "./sparkline";
import "./mini-chart.css";

interface Props {
  readonly values: Values;
  /** What the values are held against, as a dashed line. */
  readonly bound?: number;
  /** Place of the value that is spoken of. */
  readonly at?: number;
  /** What the upper edge is, and both ends of the time. */
  readonly top: string;
  readonly from: string;
  readonly to: string;
  /** Text alternative. */
  readonly label: string;
}

const WIDTH = 240;
const HEIGHT = 48;

/** A line with its highest value and the ends of its time, beside a text that says what it shows. */
export const MiniChart = memo(function MiniChart({ values, bound, at, top, from, to, label }: Props) {
  return (
    <div className="lw-mini">
      <span className="lw-mini-text">{top}</span>
      <Sparkline
        values={values}
        width={WIDTH}
        height={HEIGHT}
        label={label}
        {...(bound !== undefined && { bound })}
        {...(at !== undefined && { at })}
      />
      <span className="lw-mini-text lw-mini-time">
        <span>{from}</span>
        <span>{to}</span>
      </span>
    </div>
  );
});
