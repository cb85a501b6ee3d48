/** A sweep as two charts over one axis. Pure. */
import type { Sweep, SweepPoint } from "@/api/compare/types";
import type { XyLook, XyMark, XyPoint, XyTick } from "@/charts/xy/xy-types";

export interface SweepText {
  readonly best: string;
  readonly diminishing: string;
  readonly both: string;
  readonly runs: (count: number) => string;
  readonly leftOut: string;
}

export function verdictLook(verdict: string | null): XyLook {
  return verdict === "failed" ? "bad" : verdict === "invalid" ? "hollow" : "plain";
}

/** Numbers as they were typed: 0.5, 10, 2000000. */
export function valueText(value: number): string {
  return String(Number(value.toPrecision(12)));
}

/** The mean of the runs that count at each value, and each run that does not as a hollow point. */
export function sweepPoints(sweep: Sweep, which: "x" | "y", text: SweepText): readonly XyPoint[] {
  return sweep.points.flatMap((point): XyPoint[] => {
    const place = { x: point.value, label: `${sweep.parameter} = ${valueText(point.value)}` };
    return [
      {
        ...place,
        id: valueText(point.value),
        y: point[which],
        low: point[`${which}_low`],
        high: point[`${which}_high`],
        lines: [text.runs(point.runs.length - point.left_out.length)],
        look: verdictLook(point.verdict),
      },
      ...point.left_out.map((one) => ({
        ...place,
        id: one.run,
        y: one[which],
        lines: [one.name || one.run, text.leftOut],
        look: "hollow" as const,
      })),
    ];
  });
}

export function sweepTicks(points: readonly SweepPoint[]): readonly XyTick[] {
  return points.map(({ value }) => ({ value, label: valueText(value) }));
}

/** Best value and point of diminishing returns; one mark when they are the same. */
export function sweepMarks({ best, diminishing }: Sweep, text: SweepText): readonly XyMark[] {
  if (best !== null && best === diminishing) return [{ id: "best", x: best, label: text.both, tone: "best" }];
  return [
    ...(best === null ? [] : [{ id: "best", x: best, label: text.best, tone: "best" as const }]),
    ...(diminishing === null
      ? []
      : [{ id: "diminishing", x: diminishing, label: text.diminishing, tone: "note" as const }]),
  ];
}
