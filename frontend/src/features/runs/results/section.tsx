import type { ReactNode } from "react";
import classes from "../page/run-page.module.css";

interface Props {
  readonly id: string;
  readonly title: string;
  /** Small text beside the title. */
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}

/** A part of the run page that the page's own navigation leads to. */
export function Section({ id, title, aside, children }: Props) {
  return (
    <section id={id} className={classes.section} aria-labelledby={`${id}-title`} tabIndex={-1}>
      <div className={classes.sectionHead}>
        <h2 id={`${id}-title`} className={classes.sectionTitle}>
          {title}
        </h2>
        {aside !== undefined && <div className={classes.aside}>{aside}</div>}
      </div>
      {children}
    </section>
  );
}
