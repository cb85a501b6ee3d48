import { useKeys } from "@/ui/use-keys";

/** What a key does with the item that has the focus, if one has. */
export type ListKeys = Readonly<Record<string, (id: string | undefined) => void>>;

/**
 * J and K, or the arrows from an item's link, walk the list, / searches, and `keys` act. Enter opens as any link does.
 * Items are marked by `data-list-item` with their id, their links by `data-list-link`.
 */
export function useListKeys(keys: ListKeys): void {
  useKeys((event) => {
    if (document.querySelector("[role=dialog]") !== null) return;
    const onLink = event.target instanceof Element && event.target.matches("[data-list-link]");
    const step = stepOf(event.key, onLink);
    const act = Object.hasOwn(keys, event.key) ? keys[event.key] : undefined;
    if (step !== 0) moveFocus(step);
    else if (event.key === "/") document.querySelector<HTMLElement>("[data-list-search]")?.focus();
    else if (act !== undefined) act(heldItem()?.dataset.listItem);
    else return;
    event.preventDefault();
  });
}

function heldItem(): HTMLElement | null {
  return document.activeElement?.closest<HTMLElement>("[data-list-item]") ?? null;
}

function stepOf(key: string, onLink: boolean): number {
  if (key === "j" || (onLink && key === "ArrowDown")) return 1;
  if (key === "k" || (onLink && key === "ArrowUp")) return -1;
  return 0;
}

function moveFocus(step: number): void {
  const links = [...document.querySelectorAll<HTMLElement>("[data-list-link]")];
  const row = heldItem();
  const held = row === null ? -1 : links.findIndex((link) => row.contains(link));
  const next = held < 0 ? (step > 0 ? 0 : links.length - 1) : Math.min(links.length - 1, Math.max(0, held + step));
  links[next]?.focus();
  links[next]?.scrollIntoView({ block: "nearest" });
}
