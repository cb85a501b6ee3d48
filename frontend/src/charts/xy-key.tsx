import "@/charts/charts.css";
import "@/charts/palette.css";
import "@/charts/xy-chart.css";
import { seriesLook } from "@/charts/palette";
import { XyShape } from "@/charts/xy-layer";
import type { XyLook } from "@/charts/xy-types";

export interface XyKeyItem {
  readonly look: XyLook;
  readonly ring?: boolean;
  readonly label: string;
}

/** What the shapes of an XY chart stand for. */
export function XyKey({ items, slot = 0 }: { items: readonly XyKeyItem[]; slot?: number }) {
  const { color, marker } = seriesLook(slot);
  return (
    <ul className="lw-xy-key" style={{ "--lw-color": color } as React.CSSProperties}>
      {items.map(({ look, ring = false, label }) => (
        <li key={label}>
          <svg width={20} height={20} viewBox="-10 -10 20 20" aria-hidden="true">
            {ring && <circle className="lw-xy-ring" r={8} />}
            <XyShape look={look} marker={marker} />
          </svg>
          {label}
        </li>
      ))}
    </ul>
  );
}
