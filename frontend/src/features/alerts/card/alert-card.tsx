import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import type { Alert } from "@/api/alerts/types";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { useReasonText } from "@/ui/fault/reason";
import { StateMark } from "@/ui/state-mark";
import { Disclosure } from "@/ui/text/disclosure";
import type { AlertActions } from "../actions/use-alert-action";
import { shortInstant } from "../model/short-instant";
import { gravityOf, isQuiet, textOf } from "../model/text";
import { useAlertPath } from "../model/use-alert-path";
import { AlertButtons } from "./alert-buttons";
import classes from "./alert-card.module.css";
import { AlertLinks } from "./alert-links";
import { AlertNotes } from "./alert-notes";
import { AlertRows } from "./alert-rows";
import { AlertValue } from "./alert-value";
import { LabelChips } from "./label-chips";
import { SeverityMark } from "./severity-mark";
import { Since } from "./since";

interface Props {
  readonly alert: Alert;
  /** Others of its incident. */
  readonly others?: readonly Alert[];
  /** It is in this list no more, and keeps its place while somebody looks at it. */
  readonly left?: boolean;
  readonly now: number;
  readonly onAct: AlertActions["act"];
}

const NONE: readonly Alert[] = [];

/** One alert, with all that somebody needs at night to decide what to do; what belongs to its incident is folded. */
export function AlertCard({ alert, others = NONE, left = false, now, onAct }: Props) {
  const { t } = useTranslation();
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
      data-calm={left || alert.run !== null}
      data-left={left}
    >
      <div className={classes.main}>
        <div className={classes.head}>
          <SeverityMark severity={alert.severity} state={alert.state} calm={left || alert.run !== null} />
          <Link to={path(alert.id)} className={classes.name} data-list-link="">
            {alert.name}
          </Link>
          {left ? <StateMark tone="ok" label={t("alerts.left")} /> : <Since alert={alert} now={now} />}
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
      <AlertButtons alert={alert} others={others} onAct={onAct} />
      {others.length > 0 && (
        <div className={classes.others}>
          <Disclosure
            summary={t("alerts.incident.others", {
              total: others.length,
            })}
          >
            <AlertRows alerts={others} now={now} />
          </Disclosure>
        </div>
      )}
    </li>
  );
}

/** Who is told of it, and who is not because their receiver does not take messages; ticks. */
export function Receivers({ alert, now }: { alert: Alert; now: number }) {
  const { t } = useTranslation();
  const say = useReasonText();
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
            reason: say(one.reason),
            next: shortInstant(Math.max(one.next_attempt_ms, now), now, zone, locale),
          })}
        </span>
      ))}
    </>
  );
}
