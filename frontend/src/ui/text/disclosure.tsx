import type { ReactNode } from "react";
import classes from "./disclosure.module.css";

/** More, for who wants it. */
export function Disclosure({ summary, children }: { summary: string; children: ReactNode }) {
  return (
    <details className={classes.details}>
      <summary>{summary}</summary>
      {children}
    </details>
  );
}
