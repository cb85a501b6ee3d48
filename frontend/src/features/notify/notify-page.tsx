import type { ReactNode } from "react";
import { AlertsNav } from "@/panels/alerts-nav";
import { usePageTitle } from "@/ui/page/use-page-title";
import classes from "./notify.module.css";

interface Props {
  readonly title: string;
  /** A short line beside the title. */
  readonly aside?: ReactNode;
  /** Buttons at the end of the head. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** Tabs, title and buttons of one of the pages about notifications. */
export function NotifyPage({ title, aside, actions, children }: Props) {
  usePageTitle(title);
  return (
    <>
      <AlertsNav />
      <div className={classes.head}>
        <h1 className={classes.title}>{title}</h1>
        {aside !== undefined && <p className={classes.dim}>{aside}</p>}
        {actions !== undefined && <div className={classes.actions}>{actions}</div>}
      </div>
      {children}
    </>
  );
}
