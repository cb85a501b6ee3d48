import { useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { cancelDraw, enqueueDraw } from "@/charts/draw-queue";

/**
 * The value as of this chart's turn in the draw queue: twelve charts that get new data in one render of the page
 * adopt it in tasks of their own. Null before the first turn.
 */
export function useStaggered<T>(value: T): T | null {
  const [adopted, setAdopted] = useState<T | null>(null);
  const owner = useRef({});
  useEffect(() => {
    enqueueDraw(owner.current, () => flushSync(() => setAdopted(value)));
  }, [value]);
  useEffect(() => {
    const self = owner.current;
    return () => cancelDraw(self);
  }, []);
  return adopted;
}
