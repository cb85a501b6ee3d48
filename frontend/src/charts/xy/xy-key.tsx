import "@/charts/charts.css";
import "@/charts/palette.css";
import "./xy-chart.css";
import { seriesLook } from "@/charts/palette";
import { XyShape } from "./xy-layer";
import type { XyLook } from "./xy-types";

export interface XyKeyItem {
  readonly look: XyLook;
  readonly ring?: boolean;
  /** The slot of a line of its own; the key's by default. */
  readonly slot?: number;
  readonly label: string;
}

/** What the shapes of an XY chart stand for. */
export function XyKey({ items, slot = 0 }: { items: readonly XyKeyItem[]; slot?: number }) {
  return (
    <ul className="lw-xy-key">
      {items.map(({ look, ring = false, slot: own = slot, label }) => (
        <li key={label} style={{ "--lw-color": seriesLook(own).color } as React.CSSProperties}>
          <svg width={20} height={20} viewBox="-10 -10 20 20" aria-hidden="true">
            {ring && <circle className="lw-xy-ring" r={8} />}
            <XyShape look={look} marker={seriesLook(own).marker} />
          </svg>
          {label}
        </li>
      ))}
    </ul>
  );
}
