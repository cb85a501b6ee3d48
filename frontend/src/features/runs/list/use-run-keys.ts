import { useEffect } from "react";

interface Actions {
  readonly onSelect: (id: string) => void;
  readonly onCompare: () => void;
  readonly onSearch: () => void;
}

/** J and K, or the arrows from a run's link, walk the list; X selects, C compares, / searches. Enter opens as any link does. */
export function useRunKeys(actions: Actions): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isField(event.target)) return;
      if (document.querySelector("[role=dialog]") !== null) return;
      const onLink = event.target instanceof Element && event.target.matches("[data-run-link]");
      const step = stepOf(event.key, onLink);
      if (step !== 0) {
        moveFocus(step);
        event.preventDefault();
      } else if (event.key === "x") {
        const id = document.activeElement?.closest<HTMLElement>("[data-run]")?.dataset.run;
        if (id !== undefined) actions.onSelect(id);
      } else if (event.key === "c") actions.onCompare();
      else if (event.key === "/") {
        event.preventDefault();
        actions.onSearch();
      }
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [actions]);
}

function stepOf(key: string, onLink: boolean): number {
  if (key === "j" || (onLink && key === "ArrowDown")) return 1;
  if (key === "k" || (onLink && key === "ArrowUp")) return -1;
  return 0;
}

function moveFocus(step: number): void {
  const links = [...document.querySelectorAll<HTMLElement>("[data-run-link]")];
  const row = document.activeElement?.closest("[data-run]");
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
