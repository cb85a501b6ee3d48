/** The tree of a flame graph and where its boxes lie. Pure. */

export interface FlameData {
  /** Names of functions. */
  readonly names: readonly string[];
  /** Of each node the place of its name; a parent comes before its children, the first node is the root. */
  readonly func: readonly number[];
  /** Of each node the place of its parent; -1 of the root. */
  readonly parent: readonly number[];
  /** What each node and all below it have taken. */
  readonly value: readonly number[];
  /** The same of what it is held against, or null where it is held against nothing. */
  readonly base: readonly number[] | null;
}

/** The tree with what walking it needs: children by weight, the greatest first. */
export interface FlameTree {
  readonly data: FlameData;
  /** Width counts both sides of a difference, so that what is gone has a place as well. */
  readonly weight: Float64Array;
  readonly children: readonly (readonly number[])[];
  readonly depth: Int32Array;
}

const NONE: readonly number[] = [];

export function flameTree(data: FlameData): FlameTree {
  const count = data.func.length;
  const weight = new Float64Array(count);
  const depth = new Int32Array(count);
  const children: number[][] = [];
  for (let node = 0; node < count; node += 1) {
    weight[node] = Math.max(0, data.value[node] ?? 0) + Math.max(0, data.base?.[node] ?? 0);
    const parent = data.parent[node] ?? -1;
    if (node === 0 || parent < 0) continue;
    depth[node] = (depth[parent] ?? 0) + 1;
    const held = children[parent];
    if (held === undefined) children[parent] = [node];
    else held.push(node);
  }
  for (const held of children) held?.sort((a, b) => (weight[b] ?? 0) - (weight[a] ?? 0) || a - b);
  return { data, weight, children, depth };
}

export function childrenOf(tree: FlameTree, node: number): readonly number[] {
  return tree.children[node] ?? NONE;
}

/** From the root to the node, both included. */
export function pathTo(tree: FlameTree, node: number): number[] {
  const path: number[] = [];
  for (let at = node; at >= 0; at = tree.data.parent[at] ?? -1) {
    path.unshift(at);
    if (at === 0) break;
  }
  return path;
}

/** Boxes row by row, from left to right in each; `x` and `width` in pixels. */
export interface FlameLayout {
  readonly node: Int32Array;
  readonly x: Float32Array;
  readonly width: Float32Array;
  /** Row `r` has the boxes `rowStart[r]` up to `rowStart[r + 1]`. */
  readonly rowStart: readonly number[];
  /** Rows above the zoomed node: its callers, over the whole width. */
  readonly callers: number;
  /** Nodes that are too narrow for a box, all below them included. */
  readonly hidden: number;
}

const LEAST_WIDTH = 0.4;

/** Where everything lies when `zoom` has the whole width. */
export function layout(tree: FlameTree, zoom: number, width: number): FlameLayout {
  const count = tree.data.func.length;
  const node = new Int32Array(count);
  const x = new Float32Array(count);
  const widths = new Float32Array(count);
  const rowStart = [0];
  let held = 0;
  const put = (one: number, at: number, wide: number) => {
    node[held] = one;
    x[held] = at;
    widths[held] = wide;
    held += 1;
  };
  const path = pathTo(tree, zoom);
  for (const one of path) {
    put(one, 0, width);
    rowStart.push(held);
  }
  const scale = width / (tree.weight[zoom] || 1);
  for (let from = held - 1; from < held; from = rowStart.at(-2) ?? held) {
    const end = held;
    for (let place = from; place < end; place += 1) {
      let at = x[place] ?? 0;
      for (const child of childrenOf(tree, node[place] ?? 0)) {
        const wide = (tree.weight[child] ?? 0) * scale;
        // Sorted by weight: whatever follows is no wider.
        if (wide < LEAST_WIDTH) break;
        put(child, at, wide);
        at += wide;
      }
    }
    if (held === end) break;
    rowStart.push(held);
  }
  const below = size(tree, zoom);
  return {
    node: node.subarray(0, held),
    x: x.subarray(0, held),
    width: widths.subarray(0, held),
    rowStart,
    callers: path.length - 1,
    hidden: below - (held - path.length + 1),
  };
}

/** Nodes of a part, its own root included. */
function size(tree: FlameTree, root: number): number {
  if (root === 0) return tree.data.func.length;
  const waiting = [root];
  let count = 0;
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    count += 1;
    waiting.push(...childrenOf(tree, at));
  }
  return count;
}

/** The node at a point, or null. */
export function nodeAt(placed: FlameLayout, row: number, at: number): number | null {
  const from = placed.rowStart[row];
  const to = placed.rowStart[row + 1];
  if (from === undefined || to === undefined) return null;
  let low = from;
  let high = to - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const left = placed.x[middle] ?? 0;
    if (at < left) high = middle - 1;
    else if (at >= left + (placed.width[middle] ?? 0)) low = middle + 1;
    else return placed.node[middle] ?? null;
  }
  return null;
}

export type FlameKey = "ArrowUp" | "ArrowDown" | "ArrowLeft" | "ArrowRight" | "Home";

/** Where a key leads from a node; the node itself where there is nothing in that direction. */
export function follow(tree: FlameTree, placed: FlameLayout, node: number, key: FlameKey): number {
  switch (key) {
    case "Home":
      return 0;
    case "ArrowUp":
      return Math.max(0, tree.data.parent[node] ?? 0);
    case "ArrowDown":
      return childrenOf(tree, node).find((child) => placed.node.includes(child)) ?? node;
    case "ArrowLeft":
    case "ArrowRight": {
      const row = tree.depth[node] ?? 0;
      const boxes = placed.node.subarray(placed.rowStart[row] ?? 0, placed.rowStart[row + 1] ?? 0);
      const place = boxes.indexOf(node);
      return boxes[place + (key === "ArrowLeft" ? -1 : 1)] ?? node;
    }
  }
}

export interface FlameMatch {
  /** Of each node whether its own name matches. */
  readonly nodes: Uint8Array;
  /** Of each side, what the matching functions and all below them have taken; each stack counts once. */
  readonly value: number;
  readonly base: number;
  readonly count: number;
}

/** The nodes whose name holds a text, in any case; null for an empty text. */
export function match(tree: FlameTree, text: string): FlameMatch | null {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return null;
  const named = tree.data.names.map((name) => name.toLowerCase().includes(wanted));
  const count = tree.data.func.length;
  const nodes = new Uint8Array(count);
  const under = new Uint8Array(count);
  let [value, base, found] = [0, 0, 0];
  for (let node = 0; node < count; node += 1) {
    const above = node === 0 ? 0 : (under[tree.data.parent[node] ?? 0] ?? 0);
    const own = named[tree.data.func[node] ?? -1] === true;
    under[node] = above || own ? 1 : 0;
    if (!own) continue;
    nodes[node] = 1;
    found += 1;
    if (above) continue;
    value += tree.data.value[node] ?? 0;
    base += tree.data.base?.[node] ?? 0;
  }
  return { nodes, value, base, count: found };
}
