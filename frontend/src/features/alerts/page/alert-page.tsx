import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { Link, useParams } from "react-router";
import { alertQuery } from "@/api/alerts/queries";
import type { Alert, AlertDetail } from "@/api/alerts/types";
import { serverNow } from "@/api/server-clock";
import { useNow } from "@/lib/time/use-now";
import { useLocale } from "@/lib/use-locale";
import { AlertsNav } from "@/panels/alerts-nav";
import { CommandLine } from "@/ui/command-line";
import { QueryFault } from "@/ui/fault/query-fault";
import { useListKeys } from "@/ui/list/use-list-keys";
import { Loading } from "@/ui/loading";
import { Section } from "@/ui/page/section";
import { usePageTitle } from "@/ui/page/use-page-title";
import { Fact, Facts } from "@/ui/text/facts";
import { Hint } from "@/ui/text/text";
import { type AlertActions, useAlertAction } from "../actions/use-alert-action";
import { AlertButtons } from "../card/alert-buttons";
import { Receivers, Since } from "../card/alert-card";
import { AlertLinks } from "../card/alert-links";
import { AlertNotes } from "../card/alert-notes";
import { AlertValue } from "../card/alert-value";
import { SeverityMark } from "../card/severity-mark";
import { gravityOf, isQuiet, otherAnnotations, textOf } from "../model/text";
import { AlertChart } from "./alert-chart";
import classes from "./alert-page.module.css";
import { EarlierList } from "./earlier-list";
import { TransitionList } from "./transition-list";

const REFRESH_MS = 2000;

/** One alert: what it is, what its value did, what happened to it, and how it went before. */
export function AlertPage() {
  const { t } = useTranslation();
  const { alertId = "" } = useParams();
  const detail = useQuery({
    ...alertQuery(alertId),
    refetchInterval: ({ state }) => (state.data?.alert.state === "resolved" ? false : REFRESH_MS),
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
  const { alert } = detail;
  const now = useNow(serverNow);
  const { act, dialog } = useAlertAction();
  useListKeys({
    a: (id) => id && act(alert.acknowledged === null ? "acknowledge" : "unacknowledge", alert),
    s: (id) => id && act("silence", alert),
  });
  return (
    <div className={classes.page}>
      <Head alert={alert} now={now} act={act} />
      <Section label={t("alerts.page.value")}>
        <AlertChart detail={detail} />
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
      {dialog}
    </div>
  );
}

function Head({ alert, now, act }: { alert: Alert; now: number; act: AlertActions["act"] }) {
  const locale = useLocale();
  const summary = textOf(alert, "summary", locale);
  const description = textOf(alert, "description", locale);
  return (
    <header
      className={classes.head}
      data-list-item={alert.id}
      data-gravity={gravityOf(alert.severity)}
      data-quiet={isQuiet(alert) || alert.acknowledged !== null}
    >
      <div className={classes.words}>
        <div className={classes.titleRow}>
          <SeverityMark severity={alert.severity} state={alert.state} />
          <h1 className={classes.title}>{alert.name}</h1>
          <Since alert={alert} now={now} />
        </div>
        {summary !== "" && <p className={classes.summary}>{summary}</p>}
        <AlertNotes alert={alert} now={now} />
        {description !== "" && <p className={classes.description}>{description}</p>}
        <div className={classes.links}>
          <AlertLinks alert={alert} />
          <Receivers alert={alert} now={now} />
        </div>
      </div>
      <AlertValue alert={alert} />
      <AlertButtons alert={alert} onAct={act} />
    </header>
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
