import { useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { cancelDraw, enqueueDraw } from "@/charts/draw-queue";

/**
 * The value as of this chart's turn in the draw queue: twelve charts that get new data in one render of the page
 * adopt it in tasks of their own. A chart that is not `active` (far out of view) waits. Null before the first turn.
 */
export function useStaggered<T>(value: T, active: boolean): T | null {
  const [adopted, setAdopted] = useState<T | null>(null);
  const owner = useRef({});
  useEffect(() => {
    if (active) enqueueDraw(owner.current, () => flushSync(() => setAdopted(value)));
  }, [value, active]);
  useEffect(() => {
    const self = owner.current;
    return () => cancelDraw(self);
  }, []);
  return adopted;
}
