import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import type { Alert } from "@/api/alerts/types";
import { formatMeasure } from "@/lib/run-text";
import { useLocale } from "@/lib/use-locale";
import { Dim } from "@/ui/text/text";
import { labelValues } from "../model/incident";
import { useAlertPath } from "../model/use-alert-path";
import classes from "./alert-rows.module.css";
import { SeverityMark } from "./severity-mark";
import { Since } from "./since";

interface Props {
  readonly alerts: readonly Alert[];
  readonly now: number;
  /** The one whose address was opened. */
  readonly opened?: string;
}

/** Alerts of one incident, a line each. */
export function AlertRows({ alerts, now, opened }: Props) {
  const { t } = useTranslation();
  const locale = useLocale();
  const path = useAlertPath();
  return (
    <ul className={classes.rows}>
      {alerts.map((alert) => (
        <li key={alert.id}>
          <SeverityMark severity={alert.severity} state={alert.state} calm={alert.run !== null} />
          <Link to={path(alert.id)} className={classes.name} {...(alert.id === opened && { "aria-current": "page" })}>
            {alert.name}
          </Link>
          <span>{formatMeasure(alert.value, alert.unit, locale)}</span>
          <Dim>{labelValues(alert.labels)}</Dim>
          <Since alert={alert} now={now} />
          {alert.acknowledged !== null && <Dim>{t("alerts.incident.seenBy", { by: alert.acknowledged.by })}</Dim>}
        </li>
      ))}
    </ul>
  );
}
