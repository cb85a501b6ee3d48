import { useId, useLayoutEffect, useRef } from "react";
import { usePlotArea, useXAxisDomain, useYAxisDomain } from "recharts";
import type { PlotModel } from "./plot-model";

function numbers(domain: readonly unknown[] | undefined): readonly [number, number] | null {
  const [low, high] = domain ?? [];
  return typeof low === "number" && typeof high === "number" ? [low, high] : null;
}

/**
 * Our own lines inside Recharts' surface. React gives the empty groups and the scale that Recharts laid out; the
 * model fills the groups, so that new data renders nothing here.
 */
export function PlotLayer({ model }: { model: PlotModel }) {
  const clip = useId();
  const hatch = useId();
  const stale = useRef<SVGRectElement>(null);
  const late = useRef<SVGRectElement>(null);
  const areas = useRef<SVGGElement>(null);
  const lines = useRef<SVGGElement>(null);
  const dots = useRef<SVGGElement>(null);
  const area = usePlotArea();
  const xDomain = numbers(useXAxisDomain());
  const yDomain = numbers(useYAxisDomain());

  useLayoutEffect(() => {
    if (stale.current === null || late.current === null) return;
    if (areas.current === null || lines.current === null || dots.current === null) return;
    return model.attachSvg({
      stale: stale.current,
      late: late.current,
      areas: areas.current,
      lines: lines.current,
      dots: dots.current,
    });
  }, [model]);

  const { x = 0, y = 0, width = 0, height = 0 } = area ?? {};
  const [startMs, endMs] = xDomain ?? [0, 0];
  const [min, max] = yDomain ?? [0, 0];
  useLayoutEffect(() => {
    if (width <= 0 || endMs <= startMs || max <= min) return;
    model.setGeometry({ x, y, width, height, range: { startMs, endMs }, domain: { min, max } });
  }, [model, x, y, width, height, startMs, endMs, min, max]);

  return (
    <g>
      <clipPath id={clip}>
        <rect x={x} y={y - 4} width={width + 5} height={height + 6} />
      </clipPath>
      <pattern id={hatch} width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect className="lw-late-ground" width="7" height="7" />
        <path className="lw-late-line" d="M0,0V7" />
      </pattern>
      <rect ref={stale} className="lw-stale" visibility="hidden" />
      <rect ref={late} className="lw-late" fill={`url(#${hatch})`} visibility="hidden" />
      <g clipPath={`url(#${clip})`}>
        <g ref={areas} />
        <g ref={lines} />
      </g>
      <g ref={dots} data-dots="" />
    </g>
  );
}
