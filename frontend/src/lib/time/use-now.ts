import { useDocumentVisibility } from "@mantine/hooks";
import { useEffect, useState } from "react";

/** A clock that renders its component every `periodMs`; it stands still while the page is hidden. */
export function useNow(read: () => number, periodMs = 1000): number {
  const [now, setNow] = useState(read);
  const visible = useDocumentVisibility() === "visible";
  useEffect(() => {
    if (!visible) return;
    setNow(read());
    const timer = setInterval(() => setNow(read()), periodMs);
    return () => clearInterval(timer);
  }, [read, periodMs, visible]);
  return now;
}
