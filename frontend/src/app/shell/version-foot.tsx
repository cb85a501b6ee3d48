import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { statusQuery } from "@/api/queries";
import classes from "./shell.module.css";

/** Which build serves this page; its line is kept before that is known, so that nothing moves. */
export function VersionFoot() {
  const { t } = useTranslation();
  const status = useQuery(statusQuery);
  return <footer className={classes.foot}>{status.data && t("version", { version: status.data.version })}</footer>;
}
