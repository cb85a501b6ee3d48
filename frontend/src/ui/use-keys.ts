import { useEffect, useEffectEvent } from "react";

/** Hears the keys of the whole page, but those that are typed into a field or held with Ctrl, Alt or Command. */
export function useKeys(press: (event: KeyboardEvent) => void): void {
  const hear = useEffectEvent((event: KeyboardEvent) => {
    if (!event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event.target)) press(event);
  });
  useEffect(() => {
    document.addEventListener("keydown", hear);
    return () => document.removeEventListener("keydown", hear);
  }, []);
}

/** Inputs that take no letters. */
const SILENT = ["checkbox", "radio", "button"];

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !SILENT.includes(target.type);
  return target.isContentEditable || target.tagName === "TEXTAREA" || target.tagName === "SELECT";
}
