import { type RefObject, useLayoutEffect, useState } from "react";
import { flushSync } from "react-dom";

export interface Size {
  readonly width: number;
  readonly height: number;
}

const NONE: Size = { width: 0, height: 0 };
/** Where nothing is laid out, as in tests. */
const FALLBACK: Size = { width: 600, height: 220 };
const callbacks = new Map<Element, (size: Size) => void>();
let observer: ResizeObserver | null = null;

function shared(): ResizeObserver | null {
  if (typeof ResizeObserver === "undefined") return null;
  observer ??= new ResizeObserver((entries) => {
    for (const { target, contentRect } of entries) callbacks.get(target)?.(contentRect);
  });
  return observer;
}

/** Takes all sizes at once. */
export function measureAll(): void {
  const sizes = [...callbacks].map(([element, take]) => {
    const { clientWidth: width, clientHeight: height } = element;
    return () => take({ width, height });
  });
  flushSync(() => {
    for (const take of sizes) take();
  });
}

// Observers do not hear of paper. The page takes its width before it is printed, so that letters in charts are not
// scaled with lines; what is drawn of each chart follows in `useNear`, which listens later than this.
if (typeof window !== "undefined") {
  const measure = (paper: boolean) => {
    document.documentElement.toggleAttribute("data-paper", paper);
    measureAll();
    // A legend that has moved below a narrower chart has given its room to the plot.
    measureAll();
  };
  window.addEventListener("beforeprint", () => measure(true));
  window.addEventListener("afterprint", () => measure(false));
}

/** Size of an element in whole pixels, 0 before it is known. One observer serves all charts of the page. */
export function useSize(target: RefObject<HTMLElement | null>): Size {
  const [size, setSize] = useState(NONE);
  useLayoutEffect(() => {
    const element = target.current;
    if (element === null) return;
    const resize = shared();
    const take = ({ width, height }: Size) => {
      const next = { width: Math.floor(width), height: Math.floor(height) };
      setSize((held) => (held.width === next.width && held.height === next.height ? held : next));
    };
    if (resize === null) {
      take(FALLBACK);
      return;
    }
    take({ width: element.clientWidth, height: element.clientHeight });
    callbacks.set(element, take);
    resize.observe(element);
    return () => {
      resize.unobserve(element);
      callbacks.delete(element);
    };
  }, [target]);
  return size;
}
