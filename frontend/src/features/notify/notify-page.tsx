import type { ReactNode } from "react";
import { AlertsNav } from "@/panels/alerts-nav";
import { PageHead } from "@/ui/page/page-head";

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
  return (
    <>
      <AlertsNav />
      <PageHead title={title} aside={aside} actions={actions} />
      {children}
    </>
  );
}
