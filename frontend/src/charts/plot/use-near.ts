import { type RefObject, useEffect, useState } from "react";
import { flushSync } from "react-dom";
import { flushDraws } from "@/charts/draw-queue";
import { measureAll } from "@/charts/use-size";

const watched = new WeakMap<Element, (near: boolean) => void>();
let observer: IntersectionObserver | null = null;

function shared(): IntersectionObserver | null {
  if (typeof IntersectionObserver === "undefined") return null;
  observer ??= new IntersectionObserver(
    (entries) => {
      for (const entry of entries) watched.get(entry.target)?.(entry.isIntersecting);
    },
    { rootMargin: "400px" },
  );
  return observer;
}

/** Whether an element is in view or close to it, or the page is being printed. True until it is known. */
export function useNear(target: RefObject<Element | null>): boolean {
  const [near, setNear] = useState(true);
  useEffect(() => {
    const element = target.current;
    const view = shared();
    if (element === null || view === null) return;
    let known = true;
    const take = (now: boolean) => {
      known = now;
      setNear(now);
    };
    // A print is taken as soon as all have heard of it.
    const all = () => {
      const drawn = known;
      flushSync(() => take(true));
      flushDraws();
      // One that is drawn only now has a legend only now, which takes its room from the plot.
      if (!drawn) measureAll();
    };
    watched.set(element, take);
    view.observe(element);
    window.addEventListener("beforeprint", all);
    return () => {
      window.removeEventListener("beforeprint", all);
      view.unobserve(element);
      watched.delete(element);
    };
  }, [target]);
  return near;
}
