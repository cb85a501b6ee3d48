import type { ComponentProps, ReactNode } from "react";
import classes from "./facts.module.css";

interface Props extends Omit<ComponentProps<"dl">, "className"> {
  /** `columns` share the width; `beside` has each name before its value. */
  readonly look?: "line" | "columns" | "beside";
}

/** Names and values. */
export function Facts({ look = "line", ...list }: Props) {
  return <dl className={classes.facts} data-look={look} {...list} />;
}

interface FactProps {
  readonly name: string;
  /** What the rest explains. */
  readonly leads?: boolean;
  readonly children: ReactNode;
}

export function Fact({ name, leads = false, children }: FactProps) {
  return (
    <div className={classes.fact} data-leads={leads}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
