import { type ReactNode, useLayoutEffect, useState } from "react";
import { createPortal } from "react-dom";
import classes from "./dock.module.css";

const DOCK = "dock";

/** Where notices about the whole page come and go: at its foot, so that nothing moves. Once, in the shell. */
export function Dock({ children }: { children: ReactNode }) {
  return (
    <div id={DOCK} className={classes.dock}>
      {children}
    </div>
  );
}

/** A page's own notice, in the dock. */
export function Docked({ children }: { children: ReactNode }) {
  const [dock, setDock] = useState<HTMLElement | null>(null);
  useLayoutEffect(() => setDock(document.getElementById(DOCK)), []);
  return dock === null ? null : createPortal(children, dock);
}
