import { useEffect } from "react";
import { useLocation } from "react-router";

/** Brings the part that the address names into view once the page is `ready`: the browser looked for it before. */
export function useAddressedPart(ready = true): void {
  const { hash } = useLocation();
  useEffect(() => {
    if (ready && hash.length > 1) document.getElementById(hash.slice(1))?.scrollIntoView();
  }, [hash, ready]);
}
