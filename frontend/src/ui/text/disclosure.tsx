import type { ReactNode } from "react";
import classes from "./disclosure.module.css";

interface Props {
  readonly summary: string;
  /** Whether it is open at first. */
  readonly opened?: boolean;
  readonly children: ReactNode;
}

/** More, for who wants it. */
export function Disclosure({ summary, opened = false, children }: Props) {
  return (
    <details className={classes.details} {...(opened && { open: true })}>
      <summary>{summary}</summary>
      {children}
    </details>
  );
}
