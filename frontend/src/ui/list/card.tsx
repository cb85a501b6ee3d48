import type { ComponentProps, ReactNode } from "react";
import classes from "./card.module.css";

/** A list's lines where a table is too wide, or where each has more to say. */
export function Cards(list: Omit<ComponentProps<"ul">, "className">) {
  return <ul className={classes.cards} {...list} />;
}

export function Card({ className = "", ...item }: ComponentProps<"li">) {
  return <li className={`${classes.card} ${className}`} {...item} />;
}

/** What a card is about, and what stands at the end of that line. */
export function CardHead({ children }: { children: ReactNode }) {
  return <div className={classes.head}>{children}</div>;
}

/** A row of small buttons. */
export function CardTools({ children }: { children: ReactNode }) {
  return <div className={classes.tools}>{children}</div>;
}
