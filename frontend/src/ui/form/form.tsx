import type { ReactNode } from "react";
import classes from "./form.module.css";

/** Fields and buttons below each other. What is wrong with a field is said by the form, not by the browser. */
export function Form({ onSubmit, children }: { onSubmit: () => void; children: ReactNode }) {
  return (
    <form
      className={classes.form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}

/** The row of buttons that ends a form. */
export function Buttons({ children }: { children: ReactNode }) {
  return <div className={classes.buttons}>{children}</div>;
}
