import type { ReactNode } from "react";
import classes from "./toggle.module.css";

/** Choices side by side; `label` names them, or what stands at `labelledby` does. */
export function Toggles({ label, labelledby, children }: { label?: string; labelledby?: string; children: ReactNode }) {
  return (
    <fieldset className={classes.toggles} aria-label={label} aria-labelledby={labelledby}>
      {children}
    </fieldset>
  );
}

interface Props {
  readonly on: boolean;
  /** How many there are of it. */
  readonly count?: number | undefined;
  readonly onClick: () => void;
  readonly children: ReactNode;
}

/** One of them, which is on or off. */
export function Toggle({ on, count, onClick, children }: Props) {
  return (
    <button type="button" className={classes.toggle} aria-pressed={on} onClick={onClick}>
      {children}
      {count !== undefined && <span className={classes.count}>{count}</span>}
    </button>
  );
}
