import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import type { Alert } from "@/api/alerts/types";
import { formatDuration } from "@/lib/time/time";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import type { AlertAction } from "../actions/use-alert-action";
import { shortInstant } from "../model/short-instant";
import { gravityOf, isQuiet, textOf } from "../model/text";
import { useAlertPath } from "../model/use-alert-path";
import { AlertButtons } from "./alert-buttons";
import classes from "./alert-card.module.css";
import { AlertLinks } from "./alert-links";
import { AlertNotes } from "./alert-notes";
import { AlertValue } from "./alert-value";
import { LabelChips } from "./label-chips";
import { SeverityMark } from "./severity-mark";

interface Props {
  readonly alert: Alert;
  readonly now: number;
  readonly onAct: (action: AlertAction, alert: Alert) => void;
}

/** One alert, with all that somebody needs at night to decide what to do. */
export function AlertCard({ alert, now, onAct }: Props) {
  const path = useAlertPath();
  const locale = useLocale();
  const summary = textOf(alert, "summary", locale) || textOf(alert, "description", locale);
  return (
    <li
      className={classes.card}
      data-list-item={alert.id}
      data-gravity={gravityOf(alert.severity)}
      data-state={alert.state}
      data-quiet={isQuiet(alert) || alert.acknowledged !== null}
    >
      <div className={classes.main}>
        <div className={classes.head}>
          <SeverityMark severity={alert.severity} state={alert.state} />
          <Link to={path(alert.id)} className={classes.name} data-list-link="">
            {alert.name}
          </Link>
          <Since alert={alert} now={now} />
        </div>
        {summary !== "" && <p className={classes.summary}>{summary}</p>}
        <AlertNotes alert={alert} now={now} />
        <LabelChips labels={alert.labels} />
      </div>
      <AlertValue alert={alert} />
      <div className={classes.foot}>
        <AlertLinks alert={alert} />
        <Receivers alert={alert} now={now} />
      </div>
      <AlertButtons alert={alert} onAct={onAct} />
    </li>
  );
}

/** For how long it has stood so; ticks. */
export function Since({ alert, now }: { alert: Alert; now: number }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { zone } = useView();
  const from = alert.state === "pending" ? alert.active_ms : (alert.fired_ms ?? alert.active_ms);
  const clock = (ms: number) => shortInstant(ms, now, zone, locale);
  const span = formatDuration(Math.max(1000, (alert.resolved_ms ?? now) - from), locale);
  const text =
    alert.resolved_ms === null
      ? t("alerts.since", { span, time: clock(from) })
      : t("alerts.between", { span, from: clock(from), to: clock(alert.resolved_ms) });
  return <span className={classes.since}>{text}</span>;
}

/** Who is told of it, and who is not because their receiver does not take messages; ticks. */
export function Receivers({ alert, now }: { alert: Alert; now: number }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { zone } = useView();
  const failing = new Set(alert.undelivered.map((one) => one.receiver));
  const told = alert.receivers.filter((name) => !failing.has(name));
  return (
    <>
      {told.length > 0 && <span className={classes.told}>{t("alerts.receivers", { names: told.join(", ") })}</span>}
      {alert.undelivered.map((one) => (
        <span key={`${one.receiver}/${one.integration}`} className={classes.told} data-undelivered>
          {t("alerts.undelivered", {
            name: one.receiver,
            since: shortInstant(one.since_ms, now, zone, locale),
            reason: one.reason,
            next: formatDuration(Math.max(0, one.next_attempt_ms - now), locale),
          })}
        </span>
      ))}
    </>
  );
}
