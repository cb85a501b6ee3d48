import { type KeyboardEvent, type PointerEvent, useId, useLayoutEffect, useMemo, useRef, useState } from "react";
import "@/charts/palette.css";
import { useSize } from "@/charts/use-size";
import "./flame.css";
import type { Scheme } from "./flame-colors";
import { paint, ROW } from "./flame-paint";
import { type FlameData, type FlameKey, flameTree, follow, layout, match, nodeAt } from "./flame-tree";

export interface FlameTexts {
  /** What the keys do. */
  readonly keys: string;
  /** All that is to say of a node, in one line. */
  readonly describe: (node: number) => string;
  /** Of a node in a difference, how it has changed, with its sign; empty without one. */
  readonly sign: (node: number) => string;
  readonly hidden: (count: number) => string;
  /** The share of what a search has found. */
  readonly matched: (value: number, base: number, count: number) => string;
  readonly whole: string;
}

interface Props {
  readonly data: FlameData;
  readonly label: string;
  readonly texts: FlameTexts;
  /** Text that functions are searched by. */
  readonly search: string;
  readonly scheme: Scheme;
  /** Pixels beyond which it scrolls. */
  readonly most?: number;
}

const KEYS: ReadonlySet<string> = new Set(["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home"]);
const MOST = 480;

/** Stacks as boxes, callers above; the table beside it says the same to whoever cannot see it. */
export function FlameGraph({ data, label, texts, search, scheme, most = MOST }: Props) {
  const tree = useMemo(() => flameTree(data), [data]);
  const [held, setHeld] = useState({ data, zoom: 0, focus: null as number | null });
  // Of other data nodes have other numbers.
  const { zoom, focus } = held.data === data ? held : { zoom: 0, focus: null };
  const move = (next: { zoom?: number; focus?: number | null }) => setHeld({ data, zoom, focus, ...next });
  const [pointed, setPointed] = useState<number | null>(null);
  const [top, setTop] = useState(0);
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const { width } = useSize(box);
  const placed = useMemo(() => layout(tree, zoom, width), [tree, zoom, width]);
  const found = useMemo(() => match(tree, search), [tree, search]);
  const rows = placed.rowStart.length - 1;
  const height = Math.min(rows * ROW, most);
  const keys = useId();

  useLayoutEffect(() => {
    const element = canvas.current;
    if (element === null || width === 0) return;
    const ratio = Math.min(window.devicePixelRatio || 1, 3);
    element.width = Math.round(width * ratio);
    element.height = Math.round(height * ratio);
    const context = element.getContext("2d");
    if (context === null) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const style = getComputedStyle(element);
    paint(context, {
      ...{ tree, placed, match: found, focus: focus ?? pointed, scheme, top, width, height },
      surface: style.getPropertyValue("--lw-surface").trim() || "#ffffff",
      accent: style.getPropertyValue("--lw-accent").trim() || "#0b62c4",
      sign: texts.sign,
    });
  }, [tree, placed, found, focus, pointed, scheme, top, width, height, texts]);

  const nodeUnder = (event: PointerEvent<HTMLElement> | React.MouseEvent<HTMLElement>) => {
    const place = event.currentTarget.getBoundingClientRect();
    return nodeAt(placed, Math.floor((event.clientY - place.top + top) / ROW), event.clientX - place.left);
  };
  const reveal = (node: number) => {
    const y = (tree.depth[node] ?? 0) * ROW;
    const view = box.current;
    if (view === null) return;
    if (y < view.scrollTop) view.scrollTop = y;
    else if (y + ROW > view.scrollTop + height) view.scrollTop = y + ROW - height;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (KEYS.has(event.key)) {
      const next = focus === null ? zoom : follow(tree, placed, focus, event.key as FlameKey);
      move({ focus: next });
      reveal(next);
    } else if ((event.key === "Enter" || event.key === " ") && focus !== null) {
      move({ zoom: focus });
    } else if (event.key === "Escape" && zoom !== 0) {
      move({ zoom: 0, focus: zoom });
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  const told = pointed ?? focus ?? zoom;
  return (
    <div className="lw-flame">
      <p className="lw-flame-told" aria-hidden="true">
        {texts.describe(told)}
      </p>
      <div
        ref={box}
        className="lw-flame-box"
        role="application"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: an application takes keys
        tabIndex={0}
        aria-label={label}
        aria-describedby={keys}
        style={{ height }}
        onKeyDown={onKeyDown}
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
        onBlur={() => move({ focus: null })}
      >
        <div style={{ height: rows * ROW }}>
          <canvas
            ref={canvas}
            className="lw-flame-canvas"
            style={{ width, height }}
            onPointerMove={(event) => setPointed(nodeUnder(event))}
            onPointerLeave={() => setPointed(null)}
            onClick={(event) => {
              const node = nodeUnder(event);
              if (node !== null) move({ zoom: node, focus: node });
            }}
          />
        </div>
      </div>
      <p className="lw-flame-foot">
        {found !== null && <span role="status">{texts.matched(found.value, found.base, found.count)}</span>}
        {zoom !== 0 && (
          <button type="button" className="lw-flame-whole" onClick={() => move({ zoom: 0 })}>
            {texts.whole}
          </button>
        )}
        {placed.hidden > 0 && <span>{texts.hidden(placed.hidden)}</span>}
        <span id={keys}>{texts.keys}</span>
      </p>
      <p className="lw-flame-spoken" aria-live="polite">
        {focus === null ? "" : texts.describe(focus)}
      </p>
    </div>
  );
}
