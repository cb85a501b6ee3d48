import { useEffect } from "react";

const SCHEME = "data-mantine-color-scheme";

/** Paper is light: dark pages are printed in the light scheme, and are dark again afterwards. */
export function usePrintScheme(): void {
  useEffect(() => {
    const root = document.documentElement;
    let shown: string | null = null;
    const before = () => {
      shown = root.getAttribute(SCHEME);
      root.setAttribute(SCHEME, "light");
    };
    const after = () => {
      if (shown !== null) root.setAttribute(SCHEME, shown);
    };
    window.addEventListener("beforeprint", before);
    window.addEventListener("afterprint", after);
    return () => {
      window.removeEventListener("beforeprint", before);
      window.removeEventListener("afterprint", after);
    };
  }, []);
}
