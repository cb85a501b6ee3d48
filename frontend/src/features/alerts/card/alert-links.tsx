import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import type { Alert } from "@/api/alerts/types";
import { useLocale } from "@/lib/use-locale";
import { Icon } from "@/ui/icon";
import { safeLink, textOf } from "../model/text";
import classes from "./alert-card.module.css";

/** Where to look next: the moment on the live page, the run, the runbook. */
export function AlertLinks({ alert }: { alert: Alert }) {
  const { t } = useTranslation();
  const runbook = safeLink(textOf(alert, "runbook_url", useLocale()));
  return (
    <div className={classes.links}>
      {alert.moment_url !== "" && (
        <Link to={alert.moment_url} className={classes.link}>
          <Icon name="pulse" size={14} />
          {t("alerts.moment")}
        </Link>
      )}
      {alert.run !== null && (
        <Link to={`/runs/${alert.run.id}`} className={classes.link}>
          <Icon name="play" size={14} />
          {t("alerts.duringRun", { run: alert.run.name || alert.run.id })}
        </Link>
      )}
      {runbook !== null && (
        <a href={runbook} target="_blank" rel="noreferrer" className={classes.link}>
          <Icon name="note" size={14} />
          {t("alerts.runbook")}
        </a>
      )}
    </div>
  );
}
