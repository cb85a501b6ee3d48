import type { ReactNode } from "react";
import classes from "./tag.module.css";

interface TagProps {
  readonly title?: string;
  /** For a row of a table. */
  readonly small?: boolean;
  /** For what stands in a file as it stands here. */
  readonly code?: boolean;
  readonly children: ReactNode;
}

/** A short word in a box. */
export function Tag({ title, small = false, code = false, children }: TagProps) {
  return (
    <span className={classes.tag} title={title} data-small={small} data-code={code}>
      {children}
    </span>
  );
}

/** Tags in a row. */
export function Tags({ label, children }: { label?: string; children: ReactNode }) {
  return (
    <ul className={classes.tags} aria-label={label}>
      {children}
    </ul>
  );
}

/** A mark on a name, such as that it is the one which others are compared with. */
export function Badge({ warns = false, title, children }: { warns?: boolean; title?: string; children: ReactNode }) {
  return (
    <span className={classes.badge} title={title} data-warns={warns}>
      {children}
    </span>
  );
}
