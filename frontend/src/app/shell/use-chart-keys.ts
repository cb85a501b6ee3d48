import { useKeys } from "@/ui/use-keys";

const CHARTS = '.lw-surface[tabindex="0"]';

/** `]` and `[` go to the next chart and the one before: focus, and into view. In a dialog, to those of the dialog. */
export function useChartKeys(): void {
  useKeys((event) => {
    const step = event.key === "]" ? 1 : event.key === "[" ? -1 : 0;
    if (step !== 0 && goToChart(step)) event.preventDefault();
  });
}

function goToChart(step: 1 | -1): boolean {
  const room = document.querySelector("[role=dialog]") ?? document;
  const charts = [...room.querySelectorAll<HTMLElement>(CHARTS)];
  const next = charts[nextPlace(charts, step)];
  if (next === undefined) return false;
  next.focus({ preventScroll: true });
  // The whole card, whose margin keeps it clear of what sticks to the window's top.
  (next.closest("article") ?? next.closest("figure") ?? next).scrollIntoView({ block: "nearest" });
  return true;
}

/** From the chart that has the focus, else the first one in view; the last and the first are ends. */
function nextPlace(charts: readonly HTMLElement[], step: 1 | -1): number {
  const place = charts.findIndex((chart) => (chart.closest("article") ?? chart).contains(document.activeElement));
  if (place >= 0) return Math.min(charts.length - 1, Math.max(0, place + step));
  const seen = charts.findIndex((chart) => chart.getBoundingClientRect().top >= 0);
  return seen >= 0 ? seen : charts.length - 1;
}
