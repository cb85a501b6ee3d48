import { type RefObject, useLayoutEffect, useState } from "react";

const FALLBACK_WIDTH = 600;
const callbacks = new WeakMap<Element, (width: number) => void>();
let observer: ResizeObserver | null = null;

function shared(): ResizeObserver | null {
  if (typeof ResizeObserver === "undefined") return null;
  observer ??= new ResizeObserver((entries) => {
    for (const entry of entries) callbacks.get(entry.target)?.(Math.floor(entry.contentRect.width));
  });
  return observer;
}

/** Width of an element in whole pixels, 0 before it is known. One observer serves all charts of the page. */
export function useWidth(target: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = target.current;
    if (element === null) return;
    const resize = shared();
    setWidth(Math.floor(element.clientWidth) || (resize === null ? FALLBACK_WIDTH : 0));
    if (resize === null) return;
    callbacks.set(element, setWidth);
    resize.observe(element);
    return () => {
      resize.unobserve(element);
      callbacks.delete(element);
    };
  }, [target]);
  return width;
}
