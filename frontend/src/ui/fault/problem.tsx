import type { TFunction } from "i18next";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import classes from "./problem.module.css";

/** What is wrong; read out at once, unless it is `calm`: a fact that stands among others. */
export function Problem({ children, calm = false }: { children: ReactNode; calm?: boolean }) {
  return (
    <p className={classes.problem} {...(!calm && { role: "alert" })}>
      {children}
    </p>
  );
}

/** Why something was not done; nothing without an error. `what` says before it what that was. */
export function FaultText({ error, what }: { error: Error | null; what?: string }) {
  const { t } = useTranslation();
  if (error === null) return null;
  return (
    <Problem>
      {what !== undefined && `${what}. `}
      {faultText(error, t)}
    </Problem>
  );
}

/** The server says what went wrong, unless it is the server that does not answer. */
export function faultText(error: Error, t: TFunction): string {
  return error.message === "offline" ? `${t("error.offline")}. ${t("error.offlineHint")}` : error.message;
}
