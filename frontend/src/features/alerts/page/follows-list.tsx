import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import type { Alert, Incident } from "@/api/alerts/types";
import { formatMeasure } from "@/lib/run-text";
import { useLocale } from "@/lib/use-locale";
import { Disclosure } from "@/ui/text/disclosure";
import { Dim, Hint } from "@/ui/text/text";
import { Since } from "../card/alert-card";
import { SeverityMark } from "../card/severity-mark";
import { labelValues } from "../model/incident";
import { useAlertPath } from "../model/use-alert-path";
import classes from "./incident.module.css";

interface Props {
  readonly incident: Incident;
  /** The alert whose address was opened. */
  readonly opened: Alert;
  readonly now: number;
}

/** What follows from the cause, folded; open where somebody came by one of them. */
export function FollowsList({ incident, opened, now }: Props) {
  const { t } = useTranslation();
  const { follows, total, cause } = incident;
  if (follows.length === 0) return null;
  const known = cause.finding !== null;
  const others = total - 1;
  return (
    <section className={classes.follows} aria-label={t("alerts.incident.others")}>
      <Disclosure
        summary={t(known ? "alerts.incident.follows" : "alerts.incident.sameRun", { total: others })}
        opened={opened.id !== cause.id}
      >
        <ul className={classes.rows}>
          {follows.map((alert) => (
            <Row key={alert.id} alert={alert} now={now} opened={alert.id === opened.id} calm={cause.run !== null} />
          ))}
        </ul>
        {others > follows.length && <Hint>{t("alerts.incident.more", { total: others - follows.length })}</Hint>}
      </Disclosure>
    </section>
  );
}

function Row({ alert, now, opened, calm }: { alert: Alert; now: number; opened: boolean; calm: boolean }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const path = useAlertPath();
  return (
    <li>
      <SeverityMark severity={alert.severity} state={alert.state} calm={calm} />
      <Link to={path(alert.id)} className={classes.name} {...(opened && { "aria-current": "page" })}>
        {alert.name}
      </Link>
      <span>{formatMeasure(alert.value, alert.unit, locale)}</span>
      <Dim>{labelValues(alert.labels)}</Dim>
      <Since alert={alert} now={now} />
      {alert.acknowledged !== null && <Dim>{t("alerts.incident.seenBy", { by: alert.acknowledged.by })}</Dim>}
    </li>
  );
}
