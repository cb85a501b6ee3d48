import { useEffect } from "react";
import { useLocation, useNavigate } from "react-router";
import { PAGES } from "@/app/pages";

const PATIENCE_MS = 1000;

/** G and then a page's letter goes to the page; `?`, wherever the keyboard has it, opens the help. */
export function usePageKeys(onHelp: () => void): void {
  const navigate = useNavigate();
  const { search } = useLocation();
  useEffect(() => {
    let begun = Number.NEGATIVE_INFINITY;
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (event.key === "?") onHelp();
      const key = event.key.toLowerCase();
      const page = PAGES.find((one) => one.key === key);
      if (page !== undefined && event.timeStamp - begun < PATIENCE_MS) {
        event.preventDefault();
        void navigate({ pathname: page.path, search });
      }
      begun = key === "g" ? event.timeStamp : Number.NEGATIVE_INFINITY;
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [navigate, search, onHelp]);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
