import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import classes from "./compare.module.css";

/** A frame in which a wide table scrolls. */
export function ScrollBox({ title, children }: { title: string; children: ReactNode }) {
  const { t } = useTranslation();
  const label = t("compare.tableOf", { title });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className={classes.scroll} tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}
