import type { ReactNode } from "react";
import { Icon, type IconName } from "@/ui/icon";
import classes from "@/ui/page-message.module.css";

interface Props {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
  /** `alert` is read out at once; `status` when the reader pauses. */
  readonly role?: "alert" | "status";
  /** It is all that the page has, and so its title is the page's. */
  readonly whole?: boolean;
}

/** What a page or a section says when it has nothing else to show: why, and what to do. */
export function PageMessage({ icon, title, children, actions, role = "status", whole = false }: Props) {
  const Title = whole ? "h1" : "p";
  return (
    <div className={classes.box} role={role}>
      <Icon name={icon} size={22} className={classes.icon ?? ""} />
      <div className={classes.body}>
        <Title className={classes.title}>{title}</Title>
        {children}
        {actions !== undefined && <div className={classes.actions}>{actions}</div>}
      </div>
    </div>
  );
}
