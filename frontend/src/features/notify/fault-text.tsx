import { useTranslation } from "react-i18next";
import classes from "./notify.module.css";

/** Why a change was not made; nothing without an error. */
export function FaultText({ error }: { error: Error | null }) {
  const { t } = useTranslation();
  if (error === null) return null;
  return (
    <p className={classes.problem} role="alert">
      {error.message === "offline" ? `${t("error.offline")}. ${t("error.offlineHint")}` : error.message}
    </p>
  );
}
