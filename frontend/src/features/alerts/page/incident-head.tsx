import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import type { Incident } from "@/api/alerts/types";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { useReasonText } from "@/ui/fault/reason";
import { Icon } from "@/ui/icon";
import { Dim } from "@/ui/text/text";
import { AlertNotes } from "../card/alert-notes";
import { AlertValue } from "../card/alert-value";
import { SeverityMark } from "../card/severity-mark";
import { Since } from "../card/since";
import { headSentence, labelValues } from "../model/incident";
import { shortInstant } from "../model/short-instant";
import { gravityOf, isQuiet } from "../model/text";
import classes from "./incident.module.css";

/** What is the matter: the most severe alert in one sentence, since when, its value. Grey where a load test is under way. */
export function IncidentHead({ incident, now }: { incident: Incident; now: number }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { head, acknowledged, firing } = incident;
  const { zone } = useView();
  const found = head.finding;
  const said = found?.said_ms ?? null;
  const about = [
    labelValues(head.labels),
    found === null ? "" : t(`findings.certainty_${found.certainty}`),
    said === null ? "" : t("alerts.note.asOf", { time: shortInstant(said, now, zone, locale) }),
  ];
  return (
    <header
      className={classes.head}
      data-gravity={gravityOf(head.severity)}
      data-quiet={isQuiet(head) || head.acknowledged !== null}
      data-calm={head.run !== null}
    >
      <div className={classes.line}>
        <SeverityMark
          severity={head.severity}
          state={head.state}
          calm={head.run !== null}
          stopped={head.resolved_reason === "stopped-sending"}
        />
        <Since alert={head} now={now} />
        {head.run !== null && (
          <Link to={`/runs/${head.run.id}`} className={classes.run}>
            <Icon name="play" size={12} />
            {t("alerts.incident.duringLoad", { run: head.run.name || head.run.id })}
          </Link>
        )}
      </div>
      <h1 className={classes.title}>{headSentence(head, locale, zone)}</h1>
      <div className={classes.facts}>
        <AlertValue alert={head} large />
        <p className={classes.about}>
          {head.name}
          <Dim>{about.filter((part) => part !== "").map((part) => ` · ${part}`)}</Dim>
        </p>
      </div>
      <AlertNotes alert={head} now={now} titled />
      <Notified incident={incident} now={now} />
      {acknowledged > 0 && acknowledged < firing && (
        <p className={classes.partly}>{t("alerts.incident.partly", { acknowledged, firing })}</p>
      )}
    </header>
  );
}

/** Who was sent it and took it, each with the time; and who did not. */
function Notified({ incident, now }: { incident: Incident; now: number }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { zone } = useView();
  const say = useReasonText();
  const at = (ms: number) => shortInstant(ms, now, zone, locale);
  const parts = incident.notified.map(({ receiver, integration_kind, delivered_ms, created_ms, reason }) => {
    const name = `${receiver} (${integration_kind})`;
    if (delivered_ms !== null) return `${name} ${at(delivered_ms)}`;
    const why = reason === "" ? t("alerts.incident.notYet") : say(reason);
    return t("alerts.incident.notNotified", { name, time: at(created_ms), reason: why });
  });
  const reached = parts.length > 0 && incident.notified.every((one) => one.delivered_ms !== null);
  return (
    <p className={reached ? classes.about : classes.partly}>
      {t("alerts.incident.notified", { whom: parts.join(" · ") || t("alerts.incident.nobody") })}
    </p>
  );
}
