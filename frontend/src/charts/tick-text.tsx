import type { BaseTickContentProps } from "recharts";

/** Em of the digits' height below a line's middle, and below its top. */
const MIDDLE = "0.35em";
const HANGING = "0.75em";

/** Plain texts: Recharts' own measure every label in the page and break long ones over two lines. */
export function bottomTick(props: BaseTickContentProps) {
  return <TickText {...props} textAnchor="middle" dy={HANGING} />;
}

export function valueTick(props: BaseTickContentProps) {
  return <TickText {...props} textAnchor="end" dy={MIDDLE} />;
}

/** Of a second value axis, at the right of the plot. */
export function rightTick(props: BaseTickContentProps) {
  return <TickText {...props} textAnchor="start" dy={MIDDLE} />;
}

function TickText(props: BaseTickContentProps & { dy: string }) {
  const { x, y, dy, textAnchor, payload, index, tickFormatter } = props;
  const [first, second] = String(tickFormatter?.(payload.value, index) ?? "").split("\n");
  return (
    <text className="lw-tick" x={x} y={y} dy={dy} textAnchor={textAnchor}>
      {first}
      {second !== undefined && (
        <tspan x={x} dy="1.15em">
          {second}
        </tspan>
      )}
    </text>
  );
}
