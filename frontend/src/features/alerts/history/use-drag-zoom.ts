import { type MouseEvent, type PointerEvent, useRef, useState } from "react";
import type { Range } from "@/lib/time/time";
import { rangeBetween } from "../model/lanes";

const DRAG_PX = 6;

interface Press {
  readonly from: number;
  readonly x: number;
  readonly box: DOMRect;
}

/** A drag over the element marked `data-plot` chooses a part of the range; what lies below can still be pressed. */
export function useDragZoom(range: Range, onZoom: (range: Range) => void) {
  const [selection, setSelection] = useState<{ readonly left: number; readonly width: number } | null>(null);
  const pressed = useRef<Press | null>(null);
  const dragged = useRef(false);
  const shareAt = (x: number, box: DOMRect) => Math.min(1, Math.max(0, (x - box.left) / Math.max(1, box.width)));

  const start = (event: PointerEvent<HTMLElement>) => {
    dragged.current = false;
    const box = event.currentTarget.querySelector("[data-plot]")?.getBoundingClientRect();
    if (event.button !== 0 || box === undefined || event.clientX < box.left) return;
    pressed.current = { from: shareAt(event.clientX, box), x: event.clientX, box };
  };
  const move = (event: PointerEvent<HTMLElement>) => {
    const press = pressed.current;
    if (press === null) return;
    if (!dragged.current && Math.abs(event.clientX - press.x) < DRAG_PX) return;
    if (!dragged.current) event.currentTarget.setPointerCapture(event.pointerId);
    dragged.current = true;
    const to = shareAt(event.clientX, press.box);
    setSelection({ left: Math.min(press.from, to), width: Math.abs(to - press.from) });
  };
  const end = (event: PointerEvent<HTMLElement>) => {
    const press = pressed.current;
    pressed.current = null;
    setSelection(null);
    if (press !== null && dragged.current) onZoom(rangeBetween(range, press.from, shareAt(event.clientX, press.box)));
  };
  const cancel = () => {
    pressed.current = null;
    dragged.current = false;
    setSelection(null);
  };
  /** The press that ends a drag is not one on what lies there. */
  const click = (event: MouseEvent<HTMLElement>) => {
    if (!dragged.current) return;
    event.preventDefault();
    event.stopPropagation();
    dragged.current = false;
  };
  return {
    selection,
    handlers: {
      onPointerDown: start,
      onPointerMove: move,
      onPointerUp: end,
      onPointerCancel: cancel,
      onClickCapture: click,
    },
  };
}
