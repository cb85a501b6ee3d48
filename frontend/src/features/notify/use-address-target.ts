import { useEffect } from "react";
import { useLocation } from "react-router";

/** Brings what the address's fragment names into view, once it is drawn. */
export function useAddressTarget(drawn: boolean): void {
  const { hash } = useLocation();
  useEffect(() => {
    if (!drawn || hash === "") return;
    const id = decodeFragment(hash.slice(1));
    const element = document.getElementById(id);
    if (element === null) return;
    element.scrollIntoView({ block: "start" });
    element.focus({ preventScroll: true });
  }, [drawn, hash]);
}

function decodeFragment(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
