/** Paints the boxes of a flame graph on a canvas; what is out of sight is not painted. */
import { deltaColor, FLAME_TEXT, packageColor, type Scheme } from "./flame-colors";
import type { FlameLayout, FlameMatch, FlameTree } from "./flame-tree";

export const ROW = 20;
const PAD = 4;
const LEAST_TEXT = 26;
/** Canvas measures text slowly; letters of the fixed font are all as wide. */
const LETTER = 6.7;
export const FLAME_FONT = '11px "JetBrains Mono", ui-monospace, SFMono-Regular, Menlo, Consolas, monospace';

export interface FlamePaint {
  readonly tree: FlameTree;
  readonly placed: FlameLayout;
  readonly match: FlameMatch | null;
  readonly focus: number | null;
  readonly scheme: Scheme;
  readonly surface: string;
  readonly accent: string;
  /** Pixels that are scrolled away, and those that are seen. */
  readonly top: number;
  readonly width: number;
  readonly height: number;
  /** What stands before a name, such as `+38 %`; empty for nothing. */
  readonly sign: (node: number) => string;
}

type Context = CanvasRenderingContext2D;

export function paint(context: Context, given: FlamePaint): void {
  const { tree, placed, top, width, height } = given;
  context.fillStyle = given.surface;
  context.fillRect(0, 0, width, height);
  context.font = FLAME_FONT;
  context.textBaseline = "middle";
  const last = Math.min(placed.rowStart.length - 2, Math.floor((top + height) / ROW));
  const colors = new Map<number, string>();
  for (let row = Math.max(0, Math.floor(top / ROW)); row <= last; row += 1) {
    for (let place = placed.rowStart[row] ?? 0; place < (placed.rowStart[row + 1] ?? 0); place += 1) {
      const node = placed.node[place] ?? 0;
      const box = { x: placed.x[place] ?? 0, y: row * ROW - top, width: placed.width[place] ?? 0 };
      const dim = row < placed.callers || (given.match !== null && given.match.nodes[node] !== 1);
      context.globalAlpha = dim ? 0.45 : 1;
      context.fillStyle = colorOf(tree, node, given.scheme, colors);
      context.fillRect(box.x, box.y, Math.max(box.width - (box.width > 3 ? 1 : 0), 0.4), ROW - 1);
      context.globalAlpha = 1;
      if (box.width >= LEAST_TEXT) write(context, given, node, box);
      if (given.match?.nodes[node] === 1 && box.width > 2) outline(context, box, FLAME_TEXT[given.scheme], 1);
      if (node === given.focus) outline(context, box, given.accent, 2);
    }
  }
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

function write(context: Context, given: FlamePaint, node: number, box: Box): void {
  const name = given.tree.data.names[given.tree.data.func[node] ?? 0] ?? "";
  const sign = given.sign(node);
  const text = shorten(sign === "" ? name : `${sign} ${name}`, Math.floor((box.width - 2 * PAD) / LETTER));
  if (text === "") return;
  context.fillStyle = FLAME_TEXT[given.scheme];
  context.fillText(text, box.x + PAD, box.y + ROW / 2);
}

function outline(context: Context, box: Box, color: string, line: number): void {
  context.strokeStyle = color;
  context.lineWidth = line;
  context.strokeRect(box.x + line / 2, box.y + line / 2, Math.max(box.width - line - 1, 1), ROW - 1 - line);
}

function colorOf(tree: FlameTree, node: number, scheme: Scheme, known: Map<number, string>): string {
  const { base, func, names, value } = tree.data;
  if (base !== null) return deltaColor(value[node] ?? 0, base[node] ?? 0, scheme);
  // The root is nobody's code.
  const place = node === 0 ? -1 : (func[node] ?? 0);
  const held = known.get(place);
  if (held !== undefined) return held;
  const made = packageColor(names[place] ?? "", scheme);
  known.set(place, made);
  return made;
}

/** As much of a name as there is room for; the end of a path says more than its beginning. */
export function shorten(text: string, room: number): string {
  if (text.length <= room) return text;
  if (room < 3) return "";
  const short = text.replace(/[^\s]*\//, "");
  return short.length <= room ? short : `${short.slice(0, room - 1)}…`;
}
