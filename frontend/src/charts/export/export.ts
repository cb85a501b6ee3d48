/** Files out of a chart: CSV of its data and a PNG of what it shows. */

import type { ChartSeries } from "@/charts/chart-types";
import { flushDraws } from "@/charts/draw-queue";
import type { TimeAxis } from "@/charts/lines/time-axis";
import type { Grid } from "@/lib/series/series";
import type { Range } from "@/lib/time/time";
import { chartCsv } from "./csv";

const SVG_STYLES = [
  ...["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap"],
  ...["stroke-linejoin", "opacity", "visibility", "display", "font-family", "font-size", "font-weight", "text-anchor"],
];
const SCALE = 2;
const PAD = 12;

/** `loadwatch-requests-20261121T100300Z.csv` */
export function exportName(title: string, atMs: number, extension: "csv" | "png"): string {
  const slug = title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/g, "");
  const time = new Date(atMs).toISOString().replace(/[-:]|\.\d+/g, "");
  return `loadwatch-${slug || "chart"}-${time}.${extension}`;
}

export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export function saveChartCsv(
  title: string,
  grid: Grid,
  series: readonly ChartSeries[],
  range: Range,
  axis: TimeAxis = "time",
): void {
  saveCsv(title, axis === "time" ? range.endMs : Date.now(), chartCsv(grid, series, range, axis));
}

export function saveCsv(title: string, atMs: number, text: string): void {
  // The byte order mark makes Excel read UTF-8.
  saveFile(exportName(title, atMs, "csv"), new Blob(["\uFEFF", text], { type: "text/csv;charset=utf-8" }));
}

export async function saveChartPng(title: string, chart: Element, range: Range): Promise<void> {
  saveFile(exportName(title, range.endMs, "png"), await chartPng(title, chart));
}

/**
 * A picture of a chart, twice its size on the screen, with title and legend. `chart` is the chart's figure or any
 * element inside it. Raises an error when the chart shows no plot (loading, error).
 */
export async function chartPng(title: string, chart: Element): Promise<Blob> {
  flushDraws();
  const figure = chart.closest("figure.lw-chart") ?? chart.querySelector("figure.lw-chart");
  const svg = figure?.querySelector<SVGSVGElement>("svg.recharts-surface");
  if (!figure || !svg) throw new Error(`The chart "${title}" shows nothing that could be saved as a picture.`);
  const { width, height } = svg.getBoundingClientRect();
  const image = await loadSvg(svg, width, height);
  const style = getComputedStyle(figure);
  const legend = [...figure.querySelectorAll(".lw-legend-item[aria-pressed='true']")];
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("This browser gives no canvas to draw the picture on.");
  const font = `12px ${style.fontFamily}`;
  context.font = font;
  const rows = legendRows(context, legend, width);
  canvas.width = (width + 2 * PAD) * SCALE;
  canvas.height = (height + 2 * PAD + 24 + rows.length * 18) * SCALE;
  context.scale(SCALE, SCALE);
  context.fillStyle = style.getPropertyValue("--lw-surface") || "#fff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = style.color;
  context.font = `600 13px ${style.fontFamily}`;
  context.fillText(title, PAD, PAD + 12);
  context.drawImage(image, PAD, PAD + 20, width, height);
  context.font = font;
  rows.forEach((row, line) => {
    for (const item of row) drawLegendItem(context, item, PAD + item.x, PAD + height + 36 + line * 18, style.color);
  });
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob === null ? reject(new Error("The picture could not be encoded.")) : resolve(blob)));
  });
}

interface LegendItem {
  readonly name: string;
  readonly color: string;
  readonly marker: string;
  readonly x: number;
}

function legendRows(context: CanvasRenderingContext2D, items: readonly Element[], width: number): LegendItem[][] {
  const rows: LegendItem[][] = [];
  let x = Number.POSITIVE_INFINITY;
  for (const item of items) {
    const marker = item.querySelector("svg path:last-child");
    const name = item.getAttribute("aria-label") ?? item.textContent ?? "";
    const wide = context.measureText(name).width + 34;
    if (x + wide > width) {
      rows.push([]);
      x = 0;
    }
    const color = marker === null ? "#888" : getComputedStyle(marker).fill;
    rows.at(-1)?.push({ name, color, marker: marker?.getAttribute("d") ?? "", x });
    x += wide;
  }
  return rows;
}

function drawLegendItem(
  context: CanvasRenderingContext2D,
  item: LegendItem,
  x: number,
  y: number,
  color: string,
): void {
  context.save();
  context.translate(x + 6, y - 4);
  context.fillStyle = item.color;
  context.fill(new Path2D(item.marker));
  context.restore();
  context.fillStyle = color;
  context.fillText(item.name, x + 16, y);
}

/** The drawing as an image of its own: what the page's styles say is written into each element. */
async function loadSvg(svg: SVGSVGElement, width: number, height: number): Promise<HTMLImageElement> {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const originals = [svg, ...svg.querySelectorAll<SVGElement>("*")];
  const copies = [copy, ...copy.querySelectorAll<SVGElement>("*")];
  originals.forEach((original, place) => {
    const computed = getComputedStyle(original);
    const target = copies[place];
    target?.removeAttribute("class");
    target?.removeAttribute("style");
    // Presentation attributes, not a style text: a strict content security policy drops the latter.
    for (const name of SVG_STYLES) target?.setAttribute(name, computed.getPropertyValue(name));
  });
  copy.querySelector("[data-dots]")?.remove();
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(width * SCALE));
  copy.setAttribute("height", String(height * SCALE));
  const url = URL.createObjectURL(
    new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml;charset=utf-8" }),
  );
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    return image;
  } finally {
    URL.revokeObjectURL(url);
  }
}
