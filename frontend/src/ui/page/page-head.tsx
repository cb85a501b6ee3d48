import type { ReactNode } from "react";
import classes from "./page-head.module.css";
import { usePageTitle } from "./use-page-title";

interface Props {
  readonly title: string;
  /** A short line beside the title, such as how many there are. */
  readonly aside?: ReactNode;
  /** More beside the title. */
  readonly children?: ReactNode;
  /** Buttons at the end. */
  readonly actions?: ReactNode;
}

/** Title and buttons of a page; names the window as well. */
export function PageHead({ title, aside, children, actions }: Props) {
  usePageTitle(title);
  return (
    <div className={classes.head}>
      <h1 className={classes.title}>{title}</h1>
      {aside && <p className={classes.aside}>{aside}</p>}
      {children}
      {actions && <div className={classes.actions}>{actions}</div>}
    </div>
  );
}
