import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import type { Incident } from "@/api/alerts/types";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { Icon } from "@/ui/icon";
import { Dim } from "@/ui/text/text";
import { AlertNotes } from "../card/alert-notes";
import { AlertValue } from "../card/alert-value";
import { SeverityMark } from "../card/severity-mark";
import { Since } from "../card/since";
import { causeSentence, labelValues } from "../model/incident";
import { shortInstant } from "../model/short-instant";
import { gravityOf, isQuiet } from "../model/text";
import classes from "./incident.module.css";

/** What is the matter: the cause in one sentence, since when, its value. Grey where a load test is under way. */
export function IncidentHead({ incident, now }: { incident: Incident; now: number }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { cause, acknowledged, firing } = incident;
  const { zone } = useView();
  const found = cause.finding;
  const said = found?.said_ms ?? null;
  const about = [
    labelValues(cause.labels),
    found === null ? "" : t(`findings.certainty_${found.certainty}`),
    said === null ? "" : t("alerts.note.asOf", { time: shortInstant(said, now, zone, locale) }),
  ];
  return (
    <header
      className={classes.head}
      data-gravity={gravityOf(cause.severity)}
      data-quiet={isQuiet(cause) || cause.acknowledged !== null}
      data-calm={cause.run !== null}
    >
      <div className={classes.line}>
        <SeverityMark
          severity={cause.severity}
          state={cause.state}
          calm={cause.run !== null}
          stopped={cause.resolved_reason === "stopped-sending"}
        />
        <Since alert={cause} now={now} />
        {cause.run !== null && (
          <Link to={`/runs/${cause.run.id}`} className={classes.run}>
            <Icon name="play" size={12} />
            {t("alerts.incident.duringLoad", { run: cause.run.name || cause.run.id })}
          </Link>
        )}
      </div>
      <h1 className={classes.title}>{causeSentence(cause, locale)}</h1>
      <div className={classes.facts}>
        <AlertValue alert={cause} large />
        <p className={classes.about}>
          {cause.name}
          <Dim>{about.filter((part) => part !== "").map((part) => ` · ${part}`)}</Dim>
        </p>
      </div>
      <AlertNotes alert={cause} now={now} titled />
      {acknowledged > 0 && acknowledged < firing && (
        <p className={classes.partly}>{t("alerts.incident.partly", { acknowledged, firing })}</p>
      )}
    </header>
  );
}
