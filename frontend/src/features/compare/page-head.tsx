import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { Icon } from "@/ui/icon";
import { usePageTitle } from "@/ui/page/use-page-title";
import classes from "./compare.module.css";

/** Title with the way back to the list, and the page's controls; names the window as well. */
export function PageHead({ title, children }: { title: string; children?: ReactNode }) {
  const { t } = useTranslation();
  usePageTitle(title);
  return (
    <div className={classes.head}>
      <Link to="/runs" className={classes.back}>
        <Icon name="chevronLeft" size={14} />
        {t("nav.runs")}
      </Link>
      <h1 className={classes.title}>{title}</h1>
      <div className={classes.controls}>{children}</div>
    </div>
  );
}
