import { Button } from "@mantine/core";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { Alert, AlertList } from "@/api/alerts/types";
import { serverNow } from "@/api/server-clock";
import { useMay } from "@/lib/access-scopes";
import { useNow } from "@/lib/time/use-now";
import { AlertsNav } from "@/panels/alerts-nav";
import { GoneTargets } from "@/panels/gone-targets";
import { QueryFault } from "@/ui/fault/query-fault";
import { useListKeys } from "@/ui/list/use-list-keys";
import { Loading } from "@/ui/loading";
import { PageHead } from "@/ui/page/page-head";
import { PageMessage } from "@/ui/page-message";
import { Hint } from "@/ui/text/text";
import { type AlertActions, useAlertAction } from "../actions/use-alert-action";
import { ALL_ALERTS } from "../model/list-state";
import { GRAVITIES, gravityOf, groupAlerts } from "../model/text";
import { AlertFilters } from "./alert-filters";
import { AlertSection } from "./alert-section";
import classes from "./alerts-page.module.css";
import { AllQuiet } from "./all-quiet";
import { NoticeSwitch } from "./notice-switch";
import { useAlertList, useAlertListState } from "./use-alert-list";
import { useRules, WatchedLine, WatchWarnings } from "./watched-line";

const NONE: readonly Alert[] = [];

/** What is wrong now, the gravest first. */
export function AlertsPage() {
  const { t } = useTranslation();
  const [state, change] = useAlertListState();
  const list = useAlertList(state);
  const now = useNow(serverNow);
  const { act, dialog } = useAlertAction();
  const alerts = list.data?.alerts ?? NONE;
  useActionKeys(alerts, act);
  const severities = useSeverities();
  const filtered = state.search !== "" || state.state !== null || state.severity !== null;
  const section = { now, act, question: list.isPlaceholderData ? null : JSON.stringify(state) };
  const of = (wanted: Alert["state"]) => alerts.filter((alert) => alert.state === wanted);
  return (
    <>
      <AlertsNav />
      <PageHead title={t("alerts.title")} actions={<NoticeSwitch />}>
        {list.data && <Counts list={list.data} now={now} quiet={alerts.length === 0 && !filtered} />}
      </PageHead>
      <div className={classes.page}>
        <QueryFault title={t("alerts.failed")} query={list} />
        {list.data && <WatchWarnings list={list.data} now={now} />}
        <GoneTargets />
        {(alerts.length > 0 || filtered) && <AlertFilters state={state} onChange={change} severities={severities} />}
        {list.isPending && <Loading height={180} label={t("alerts.loading")} />}
        <div className={classes.list} aria-busy={list.isPlaceholderData}>
          <AlertSection state="firing" alerts={of("firing")} {...section} />
          <AlertSection state="pending" alerts={of("pending")} {...section} />
        </div>
        {list.data && list.data.total > alerts.length && (
          <Hint>{t("alerts.cut", { shown: alerts.length, total: list.data.total })}</Hint>
        )}
        {list.data && alerts.length === 0 && !filtered && <AllQuiet list={list.data} now={now} />}
        {list.data && alerts.length === 0 && filtered && (
          <PageMessage
            icon="search"
            title={t("alerts.nothing")}
            actions={
              <Button variant="default" className={classes.tool ?? ""} onClick={() => change(ALL_ALERTS)}>
                {t("alerts.clearFilters")}
              </Button>
            }
          />
        )}
        {alerts.length > 0 && <p className={classes.keys}>{t("alerts.keysHint")}</p>}
      </div>
      {dialog}
    </>
  );
}

function Counts({ list, now, quiet }: { list: AlertList; now: number; quiet: boolean }) {
  const { t } = useTranslation();
  const { firing, pending, acknowledged, silenced } = list.counts;
  const parts = [
    t("alerts.countFiring", { total: firing }),
    pending > 0 ? t("alerts.countPending", { total: pending }) : null,
    acknowledged > 0 ? t("alerts.countAcknowledged", { total: acknowledged }) : null,
    silenced > 0 ? t("alerts.countSilenced", { total: silenced }) : null,
  ];
  return (
    <div className={classes.counts}>
      <p role="status">{parts.filter((part) => part !== null).join(", ")}</p>
      {!quiet && <WatchedLine list={list} now={now} />}
    </div>
  );
}

/** Severities that rules name, the gravest first. */
function useSeverities(): readonly string[] {
  const rules = useRules();
  return useMemo(() => {
    const named = rules.data?.groups.flatMap((group) => group.rules.map((rule) => rule.labels.severity ?? "")) ?? [];
    const rank = (severity: string) => GRAVITIES.indexOf(gravityOf(severity));
    return [...new Set(named)].filter((one) => one !== "" && !one.includes("{{")).toSorted((a, b) => rank(a) - rank(b));
  }, [rules.data]);
}

const stateOf = (alerts: readonly Alert[], id: string | undefined) => alerts.find((one) => one.id === id)?.state;

/** A and S on the alert that has the focus, or its incident. */
function useActionKeys(alerts: readonly Alert[], act: AlertActions["act"]): void {
  const may = useMay("alerts:write");
  const on = (id: string | undefined, action: "acknowledge" | "silence") => {
    const group = groupAlerts(alerts.filter(({ state }) => state === stateOf(alerts, id))).find((one) =>
      one.alerts.some((alert) => alert.id === id),
    );
    const alert = group?.alerts.find((one) => one.id === id);
    if (group === undefined || alert === undefined || !may) return;
    const seen = [alert, ...group.others].every((one) => one.acknowledged !== null);
    act(action === "acknowledge" && seen ? "unacknowledge" : action, alert, group.others);
  };
  useListKeys({ a: (id) => on(id, "acknowledge"), s: (id) => on(id, "silence") });
}
