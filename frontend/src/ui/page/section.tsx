import { type ComponentProps, type ReactNode, useId } from "react";
import classes from "./section.module.css";

interface Props {
  /** Where links within the page lead. */
  readonly id?: string;
  readonly title?: string;
  /** Names it where no title stands. */
  readonly label?: string;
  /** Small text beside the title. */
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}

/** A part of a page, in a box with its title. */
export function Section({ id, title, label, aside, children }: Props) {
  const own = useId();
  const name = `${id ?? own}-title`;
  return (
    <section
      className={classes.section}
      {...(id !== undefined && { id, tabIndex: -1 })}
      {...(title === undefined ? { "aria-label": label } : { "aria-labelledby": name })}
    >
      {title !== undefined && (
        <div className={classes.head}>
          <h2 id={name} className={classes.title}>
            {title}
          </h2>
          {aside !== undefined && <div className={classes.aside}>{aside}</div>}
        </div>
      )}
      {children}
    </section>
  );
}

/** The box of one chart. */
export function Frame(article: Omit<ComponentProps<"article">, "className">) {
  return <article className={classes.frame} {...article} />;
}
