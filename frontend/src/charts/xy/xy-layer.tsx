import { usePlotArea } from "recharts";
import { seriesLook } from "@/charts/palette";
import type { Domain } from "@/lib/ticks";
import { scaled } from "./xy-scale";
import type { XyLevel, XyLook, XyMark, XyPoint, XyScale } from "./xy-types";

export interface XyLayerProps {
  readonly points: readonly XyPoint[];
  readonly marks: readonly XyMark[];
  readonly levels: readonly XyLevel[];
  readonly joined: boolean;
  readonly slot: number;
  readonly scale: XyScale;
  readonly domain: Domain;
  readonly range: Domain;
  readonly active: string | null;
}

const CROSS = "M-4,-4L4,4M-4,4L4,-4";
const CAP = 4;

/** Points with error bars, the line through them, levels and marks; few enough for React to draw. */
export function XyLayer(props: XyLayerProps) {
  const { points, marks, levels, joined, slot, scale, domain, range, active } = props;
  const area = usePlotArea();
  if (area === undefined) return null;
  const xOf = (value: number) =>
    area.x + ((scaled(value, scale) - domain.min) / (domain.max - domain.min || 1)) * area.width;
  const yOf = (value: number) =>
    area.y + area.height - ((value - range.min) / (range.max - range.min || 1)) * area.height;
  const drawn = points.filter((point): point is XyPoint & { y: number } => point.y !== null);
  const lead = drawn.find(({ id }) => id === active);
  const slots = [...new Set(drawn.map((point) => point.slot ?? slot))];
  return (
    <g style={{ "--lw-color": seriesLook(slot).color } as React.CSSProperties}>
      {lead && <path className="lw-xy-lead" d={`M${xOf(lead.x)},${area.y}V${area.y + area.height}`} />}
      <Marks marks={marks} xOf={xOf} top={area.y} bottom={area.y + area.height} right={area.x + area.width} />
      {levels.map(({ from, to, value }) => (
        <path key={from} className="lw-xy-level" d={`M${xOf(from)},${yOf(value)}H${xOf(to)}`} />
      ))}
      {slots.map((place) => {
        const look = seriesLook(place);
        const members = drawn.filter((point) => (point.slot ?? slot) === place);
        return (
          <g key={place} style={{ "--lw-color": look.color } as React.CSSProperties}>
            {joined && (
              <path
                className="lw-xy-line"
                strokeDasharray={look.dash ?? undefined}
                d={members
                  .filter(({ look }) => look !== "hollow")
                  .map(({ x, y }, index) => `${index === 0 ? "M" : "L"}${xOf(x).toFixed(1)},${yOf(y).toFixed(1)}`)
                  .join("")}
              />
            )}
            {members.map((point) => (
              <g key={point.id} data-point={point.id} transform={`translate(${xOf(point.x).toFixed(1)},0)`}>
                <ErrorBar point={point} yOf={yOf} />
                <g
                  transform={`translate(0,${yOf(point.y).toFixed(1)})`}
                  className={point.id === active ? "lw-xy-active" : ""}
                >
                  {point.ring && <circle className="lw-xy-ring" r={8} />}
                  <XyShape look={point.look ?? "plain"} marker={look.marker} />
                </g>
              </g>
            ))}
          </g>
        );
      })}
    </g>
  );
}

export function XyShape({ look, marker }: { look: XyLook; marker: string }) {
  if (look === "bad") return <path className="lw-xy-cross" d={CROSS} />;
  return <path className={look === "hollow" ? "lw-xy-point lw-xy-hollow" : "lw-xy-point"} d={marker} />;
}

function ErrorBar({ point, yOf }: { point: XyPoint; yOf: (value: number) => number }) {
  const { low, high } = point;
  if (low === null || high === null || low === undefined || high === undefined || low === high) return null;
  const bottom = yOf(low).toFixed(1);
  const top = yOf(high).toFixed(1);
  return <path className="lw-xy-error" d={`M${-CAP},${top}H${CAP}M0,${top}V${bottom}M${-CAP},${bottom}H${CAP}`} />;
}

interface MarksProps {
  readonly marks: readonly XyMark[];
  readonly xOf: (value: number) => number;
  readonly top: number;
  readonly bottom: number;
  readonly right: number;
}

/** Labels stand above the plot, each in the first of two rows where it meets no other. */
function Marks({ marks, xOf, top, bottom, right }: MarksProps) {
  const ends = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  return [...marks]
    .sort((a, b) => a.x - b.x)
    .map((mark) => {
      const x = xOf(mark.x);
      const width = textWidth(mark.label);
      const toLeft = x + width > right;
      const from = toLeft ? x - width : x;
      const row = ends.findIndex((end) => end <= from);
      if (row >= 0) ends[row] = from + width + 8;
      return (
        <g key={mark.id} className="lw-xy-mark" data-tone={mark.tone}>
          <path d={`M${x.toFixed(1)},${top - (row < 0 ? 0 : 4 + row * 13)}V${bottom}`} />
          {row >= 0 && (
            <text x={toLeft ? x - 3 : x + 3} y={top - 4 - row * 13} textAnchor={toLeft ? "end" : "start"}>
              {mark.label}
            </text>
          )}
        </g>
      );
    });
}

/** About 6 px a letter of 10 px type, 10 px a Japanese one. */
function textWidth(text: string): number {
  return [...text].reduce((sum, letter) => sum + ((letter.codePointAt(0) ?? 0) > 0x2e7f ? 10.5 : 5.8), 6);
}
