import { useRef } from "react";
import { useLocation, useNavigate } from "react-router";
import { PAGES } from "@/app/pages";
import { viewSearch } from "@/lib/view/state";
import { useKeys } from "@/ui/use-keys";

const PATIENCE_MS = 1000;

/** G and then a page's letter goes to the page; `?`, wherever the keyboard has it, opens the help. */
export function usePageKeys(onHelp: () => void): void {
  const navigate = useNavigate();
  const { search } = useLocation();
  const begun = useRef(Number.NEGATIVE_INFINITY);
  useKeys((event) => {
    if (event.key === "?") onHelp();
    const key = event.key.toLowerCase();
    const page = PAGES.find((one) => one.key === key);
    if (page !== undefined && event.timeStamp - begun.current < PATIENCE_MS) {
      event.preventDefault();
      void navigate({ pathname: page.path, search: viewSearch(search) });
    }
    begun.current = key === "g" ? event.timeStamp : Number.NEGATIVE_INFINITY;
  });
}
