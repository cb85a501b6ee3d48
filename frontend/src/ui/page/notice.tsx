import type { ReactNode } from "react";
import { Icon, type IconName } from "@/ui/icon";
import classes from "./notice.module.css";

interface Props {
  readonly tone?: "warn" | "bad";
  /** null stands for none. */
  readonly icon?: IconName | null;
  /** With a line around it, for what concerns the whole page. */
  readonly framed?: boolean;
  /** `alert` is read out at once, `status` when the reader pauses, `note` never by itself. */
  readonly role: "alert" | "status" | "note";
  /** A button at the end. */
  readonly action?: ReactNode;
  readonly children: ReactNode;
}

/** What has to be known about what stands around it. */
export function Notice({ tone = "warn", icon = "warning", framed = false, role, action, children }: Props) {
  return (
    <div className={classes.notice} data-tone={tone} data-framed={framed} role={role}>
      {icon !== null && <Icon name={icon} />}
      <div className={classes.text}>{children}</div>
      {action}
    </div>
  );
}
