import { memo } from "react";
import "./headroom-bar.css";
import "@/charts/palette.css";
import type { Locale } from "@/lib/time/time";
import { formatValue } from "@/lib/units";

export type HeadroomState = "ok" | "near" | "exhausted";

interface HeadroomBarProps {
  /** used/limit; more than 1 fills the bar. Null when it is unknown. */
  readonly ratio: number | null;
  readonly state: HeadroomState;
  /** Name of the resource, for screen readers. */
  readonly label: string;
  /** Where "near" begins, drawn as a tick. */
  readonly nearAt?: number;
  readonly locale?: Locale;
}

const STRIPES = Array.from({ length: 26 }, (_, place) => `M${place * 8 - 8},10l8,-12`).join("");

/** Used share of a limit. The state shows by colour and by stripes: none, sparse when near, dense when exhausted. */
export const HeadroomBar = memo(function HeadroomBar(props: HeadroomBarProps) {
  const { ratio, state, label, nearAt = 0.8, locale = "en" } = props;
  const share = Math.min(1, Math.max(0, ratio ?? 0));
  return (
    <div className="lw-headroom" data-state={state}>
      <meter className="lw-hidden" aria-label={label} min={0} max={1} value={share}>
        {formatValue(ratio, "ratio", locale)}
      </meter>
      <svg
        className="lw-headroom-drawing"
        width="100%"
        height="8"
        viewBox="0 0 200 8"
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <rect className="lw-headroom-track" width="200" height="8" />
        <rect className="lw-headroom-used" width={(share * 200).toFixed(1)} height="8" />
        {state !== "ok" && (
          <svg width={(share * 200).toFixed(1)} height="8" aria-hidden="true">
            <path className="lw-headroom-hatch" d={STRIPES} opacity={state === "exhausted" ? 0.7 : 0.3} />
          </svg>
        )}
        <path className="lw-headroom-mark" d={`M${nearAt * 200},0V8`} vectorEffect="non-scaling-stroke" />
      </svg>
    </div>
  );
});
