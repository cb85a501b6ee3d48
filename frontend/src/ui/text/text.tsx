import type { ComponentProps, ReactNode } from "react";
import classes from "./text.module.css";

/** Small words beside what matters more. */
export function Dim({ children }: { children: ReactNode }) {
  return <span className={classes.dim}>{children}</span>;
}

/** A line that explains what stands around it. */
export function Hint({ children }: { children: ReactNode }) {
  return <p className={classes.hint}>{children}</p>;
}

/** What a thing is called, with its marks beside it. */
export function NameLine({ children }: { children: ReactNode }) {
  return <p className={classes.name}>{children}</p>;
}

/** A button that looks like a link, such as one that shows the rest of a list. */
export function TextButton(button: Omit<ComponentProps<"button">, "type" | "className">) {
  return <button type="button" className={classes.button} {...button} />;
}

/** What another program said, as it said it. */
export function Excerpt({ children }: { children: string }) {
  return <pre className={classes.excerpt}>{children}</pre>;
}
