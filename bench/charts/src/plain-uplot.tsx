import { useEffect, useRef } from "react";
import UPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { type Grid, type SignalResult, timeAt } from "@/lib/series/series";
import type { Frame } from "./workload";

const COLORS = ["#0b62c4", "#c2500a", "#00806a", "#a32fa0"];

function columns(grid: Grid, result: SignalResult): UPlot.AlignedData {
  const times = Array.from({ length: grid.count }, (_, index) => timeAt(grid, index) / 1000);
  return [times, ...result.series.map((one) => [...one.values])];
}

function marks(frame: () => Frame): UPlot.Plugin {
  return {
    hooks: {
      drawClear: (plot) => {
        const { ctx, bbox } = plot;
        ctx.save();
        ctx.beginPath();
        ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
        ctx.clip();
        ctx.fillStyle = "rgb(11 98 196 / 8%)";
        for (const band of frame().bands) {
          const from = plot.valToPos(band.startMs / 1000, "x", true);
          const to = plot.valToPos((band.endMs ?? frame().range.endMs) / 1000, "x", true);
          ctx.fillRect(from, bbox.top, to - from, bbox.height);
        }
        ctx.fillStyle = "#6a3fb5";
        for (const note of frame().notes) {
          ctx.fillRect(plot.valToPos(note.startMs / 1000, "x", true), bbox.top, 1, bbox.height);
        }
        ctx.restore();
      },
    },
  };
}

/** uPlot on canvas: the lower bound of what such a page can cost. */
export function PlainUplot({ frame, width }: { frame: Frame; width: number }) {
  const host = useRef<HTMLDivElement>(null);
  const plots = useRef<UPlot[]>([]);
  const latest = useRef(frame);
  latest.current = frame;
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    plots.current = latest.current.answer.results.map((result) => {
      const box = document.createElement("div");
      element.append(box);
      const options: UPlot.Options = {
        width,
        height: 200,
        cursor: { sync: { key: "all" } },
        scales: { x: { time: true } },
        series: [{}, ...result.series.map((one, place) => ({ label: one.name, stroke: COLORS[place] ?? "#000" }))],
        plugins: [marks(() => latest.current)],
      };
      return new UPlot(options, columns(latest.current.answer, result), box);
    });
    return () => {
      for (const plot of plots.current) plot.destroy();
      element.replaceChildren();
    };
  }, [width]);
  useEffect(() => {
    frame.answer.results.forEach((result, index) => {
      plots.current[index]?.setData(columns(frame.answer, result));
    });
  }, [frame]);
  return <div className="grid" ref={host} />;
}
