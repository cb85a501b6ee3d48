import { useEffect } from "react";

interface Actions {
  readonly onAcknowledge: (id: string) => void;
  readonly onSilence: (id: string) => void;
}

/** J and K, or the arrows from an alert's link, walk the list; A acknowledges, S silences, / searches. Enter opens as any link does. */
export function useAlertKeys({ onAcknowledge, onSilence }: Actions): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isField(event.target)) return;
      if (document.querySelector("[role=dialog]") !== null) return;
      const onLink = event.target instanceof Element && event.target.matches("[data-alert-link]");
      const step = stepOf(event.key, onLink);
      const id = document.activeElement?.closest<HTMLElement>("[data-alert]")?.dataset.alert;
      if (step !== 0) moveFocus(step);
      else if (event.key === "/") document.querySelector<HTMLElement>("[data-alert-search]")?.focus();
      else if (event.key === "a" && id !== undefined) onAcknowledge(id);
      else if (event.key === "s" && id !== undefined) onSilence(id);
      else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [onAcknowledge, onSilence]);
}

function stepOf(key: string, onLink: boolean): number {
  if (key === "j" || (onLink && key === "ArrowDown")) return 1;
  if (key === "k" || (onLink && key === "ArrowUp")) return -1;
  return 0;
}

function moveFocus(step: number): void {
  const links = [...document.querySelectorAll<HTMLElement>("[data-alert-link]")];
  const row = document.activeElement?.closest("[data-alert]");
  const held = row === null || row === undefined ? -1 : links.findIndex((link) => row.contains(link));
  const next = held < 0 ? (step > 0 ? 0 : links.length - 1) : Math.min(links.length - 1, Math.max(0, held + step));
  links[next]?.focus();
  links[next]?.scrollIntoView({ block: "nearest" });
}

function isField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !["checkbox", "radio", "button"].includes(target.type);
  return target.isContentEditable || target.tagName === "TEXTAREA" || target.tagName === "SELECT";
}
