import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { Link, useParams } from "react-router";
import { alertQuery } from "@/api/alerts/queries";
import type { Alert, AlertDetail, Incident } from "@/api/alerts/types";
import { serverNow } from "@/api/server-clock";
import { useMay } from "@/lib/access-scopes";
import { useNow } from "@/lib/time/use-now";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { AlertsNav } from "@/panels/alerts-nav";
import { CommandLine } from "@/ui/command-line";
import { QueryFault } from "@/ui/fault/query-fault";
import { useListKeys } from "@/ui/list/use-list-keys";
import { Loading } from "@/ui/loading";
import { Section } from "@/ui/page/section";
import { usePageTitle } from "@/ui/page/use-page-title";
import { Fact, Facts } from "@/ui/text/facts";
import { Hint } from "@/ui/text/text";
import { useNarrow } from "@/ui/use-narrow";
import { type AlertActions, useAlertAction } from "../actions/use-alert-action";
import { Receivers } from "../card/alert-card";
import { AlertLinks } from "../card/alert-links";
import { AlertNotes } from "../card/alert-notes";
import { Since } from "../card/since";
import { headSentence, isSeen, isSilenced } from "../model/incident";
import { otherAnnotations, textOf } from "../model/text";
import { AlertChart } from "./alert-chart";
import classes from "./alert-page.module.css";
import { EarlierList } from "./earlier-list";
import { FirstSteps } from "./first-steps";
import { IncidentBar } from "./incident-bar";
import { IncidentHead } from "./incident-head";
import { OthersList } from "./others-list";
import { TransitionList } from "./transition-list";

const REFRESH_MS = 2000;

/** An alert's incident: its most severe alert, what to do and the others; and what happened to the alert that was opened. */
export function AlertPage() {
  const { t } = useTranslation();
  const { alertId = "" } = useParams();
  const detail = useQuery({
    ...alertQuery(alertId),
    refetchInterval: ({ state }) => (state.data?.incident.ended_ms ? false : REFRESH_MS),
  });
  const name = detail.data?.alert.name;
  usePageTitle(name ?? t("alerts.title"));
  return (
    <>
      <AlertsNav />
      <QueryFault title={t("alerts.page.failed")} query={detail} />
      {detail.isPending && <Loading height={280} label={t("alerts.loading")} />}
      {detail.data && <Detail key={alertId} detail={detail.data} />}
    </>
  );
}

function Detail({ detail }: { detail: AlertDetail }) {
  const { t } = useTranslation();
  const { alert, incident, transitions } = detail;
  const now = useNow(serverNow);
  const { act, dialog } = useAlertAction();
  useIncidentKeys(incident, act);
  const itself = incident.head.id === alert.id;
  const height = useNarrow() ? 150 : 220;
  return (
    <div className={classes.page}>
      <IncidentHead incident={incident} now={now} />
      <Section label={t("alerts.page.value")}>
        <AlertChart alert={incident.head} transitions={itself ? transitions : []} height={height} />
      </Section>
      <FirstSteps incident={incident} />
      <OthersList incident={incident} opened={alert} now={now} />
      <Section title={alert.name} aside={!itself && <Since alert={alert} now={now} />}>
        <Words alert={alert} now={now} titled={itself} />
        {!itself && <AlertChart alert={alert} transitions={transitions} height={height} />}
      </Section>
      <div className={classes.columns}>
        <Section title={t("alerts.page.transitions")}>
          <TransitionList detail={detail} now={now} />
        </Section>
        <div className={classes.stack}>
          <Section title={t("alerts.labels")}>
            <Pairs pairs={Object.entries(alert.labels).toSorted(([a], [b]) => (a < b ? -1 : 1))} />
            <Pairs pairs={otherAnnotations(alert.annotations)} />
          </Section>
          <Section title={t("alerts.page.rule")}>
            <CommandLine text={alert.expression} copy={t("alerts.page.copy")} />
            <Hint>
              <Link to={`/alerts/rules?search=${encodeURIComponent(alert.name)}`}>{t("alerts.page.toRule")}</Link> ·{" "}
              {alert.group}
            </Hint>
          </Section>
        </div>
        <Section title={t("alerts.page.earlier")}>
          <EarlierList alerts={detail.earlier} now={now} />
        </Section>
      </div>
      <IncidentBar incident={incident} act={act} />
      {dialog}
    </div>
  );
}

/** A and S anywhere on the page are about the incident. */
function useIncidentKeys(incident: Incident, act: AlertActions["act"]): void {
  const may = useMay("alerts:write") && incident.ended_ms === null;
  const { head, others, total } = incident;
  useListKeys({
    a: () => may && act(isSeen(incident) ? "unacknowledge" : "acknowledge", head, others, total),
    s: () => may && !isSilenced(incident) && act("silence-now", head, others),
  });
}

/** What its rule says of an alert, what else is so about it, and where to look; less where the page is titled by it. */
function Words({ alert, now, titled = false }: { alert: Alert; now: number; titled?: boolean }) {
  const locale = useLocale();
  const { zone } = useView();
  const above = titled ? headSentence(alert, locale, zone) : "";
  const texts = [textOf(alert, "summary", locale), textOf(alert, "description", locale)].filter(
    (text) => text !== "" && text !== above,
  );
  return (
    <div className={classes.words}>
      {texts.map((text) => (
        <p key={text} className={classes.description}>
          {text}
        </p>
      ))}
      {!titled && <AlertNotes alert={alert} now={now} titled />}
      <div className={classes.links}>
        <AlertLinks alert={alert} />
        <Receivers alert={alert} now={now} />
      </div>
    </div>
  );
}

function Pairs({ pairs }: { pairs: readonly (readonly [string, string])[] }) {
  if (pairs.length === 0) return null;
  return (
    <Facts look="beside">
      {pairs.map(([name, value]) => (
        <Fact key={name} name={name}>
          {value}
        </Fact>
      ))}
    </Facts>
  );
}
