/** What is measured in the browser: boxes on our canvas, and the same boxes as elements of SVG. */
import { paint } from "@/charts/flame/flame-paint";
import { type FlameData, flameTree, layout } from "@/charts/flame/flame-tree";

const [WIDTH, ROW] = [1200, 20];

/** 40 rows of 500 boxes: every node is wide enough to be painted. */
function even(count: number): FlameData {
  const rows = 40;
  const data = { names: ["all"], func: [0], parent: [-1], value: [Math.floor(count / rows)] };
  for (let column = 0; column < Math.floor(count / rows); column += 1) {
    for (let row = 0; row < rows; row += 1) {
      data.names.push(`example.com/shop/${row}.(*Handler).call${column}`);
      data.func.push(data.names.length - 1);
      data.parent.push(row === 0 ? 0 : data.func.length - 2);
      data.value.push(1);
    }
  }
  return { ...data, base: null };
}

/** As real profiles are: some wide paths with their names, and many narrow ones. The same each time. */
function skewed(count: number): FlameData {
  let seed = 42;
  const random = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
  const parent = [-1];
  for (let node = 1; node < count; node += 1) parent.push(Math.floor(node * random() ** 2));
  const value = parent.map(() => (random() < 0.5 ? 1 : 0));
  for (let node = count - 1; node > 0; node -= 1) value[parent[node] ?? 0] = (value[parent[node] ?? 0] ?? 0) + (value[node] ?? 0);
  const names = parent.map((_, node) => `example.com/shop/part${node % 97}.(*Type${node % 31}).method${node}`);
  return { names, func: parent.map((_, node) => node), parent, value, base: null };
}

function onCanvas(data: FlameData): { nodes: number; boxes: number } {
  const tree = flameTree(data);
  const placed = layout(tree, 0, WIDTH);
  const canvas = document.createElement("canvas");
  canvas.width = WIDTH;
  canvas.height = (placed.rowStart.length - 1) * ROW;
  document.body.replaceChildren(canvas);
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("no canvas");
  paint(context, {
    ...{ tree, placed, match: null, focus: null, scheme: "light", surface: "#ffffff", accent: "#0b62c4" },
    ...{ top: 0, width: canvas.width, height: canvas.height, sign: () => "" },
  });
  // Painting is put off until somebody looks.
  context.getImageData(0, 0, 1, 1);
  return { nodes: data.func.length, boxes: placed.node.length };
}

/** An element a box, with its text where there is room: what libraries on SVG do. */
function onSvg(data: FlameData): { nodes: number; boxes: number } {
  const placed = layout(flameTree(data), 0, WIDTH);
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("width", String(WIDTH));
  svg.setAttribute("height", String((placed.rowStart.length - 1) * ROW));
  for (let row = 0; row + 1 < placed.rowStart.length; row += 1) {
    for (let at = placed.rowStart[row] ?? 0; at < (placed.rowStart[row + 1] ?? 0); at += 1) {
      const group = document.createElementNS(space, "g");
      group.setAttribute("transform", `translate(${placed.x[at]},${row * ROW})`);
      const box = document.createElementNS(space, "rect");
      box.setAttribute("width", String(placed.width[at]));
      box.setAttribute("height", String(ROW - 1));
      box.setAttribute("fill", `hsl(${(at * 37) % 360}, 58%, 78%)`);
      group.append(box);
      if ((placed.width[at] ?? 0) >= 26) {
        const text = document.createElementNS(space, "text");
        text.setAttribute("y", "14");
        text.textContent = data.names[data.func[placed.node[at] ?? 0] ?? 0] ?? "";
        group.append(text);
      }
      svg.append(group);
    }
  }
  document.body.replaceChildren(svg);
  svg.getBoundingClientRect();
  return { nodes: data.func.length, boxes: placed.node.length };
}

const SHAPES = { even, skewed };
const WAYS = { canvas: onCanvas, svg: onSvg };

/** Milliseconds from the data to the second frame after it. */
async function measure(way: keyof typeof WAYS, shape: keyof typeof SHAPES, count: number) {
  const data = SHAPES[shape](count);
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  await frame();
  const from = performance.now();
  const made = WAYS[way](data);
  const script = performance.now() - from;
  await frame();
  await frame();
  return { ...made, script, shown: performance.now() - from };
}

Object.assign(window, { measure });
