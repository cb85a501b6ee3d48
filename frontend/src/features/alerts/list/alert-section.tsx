import { Button } from "@mantine/core";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Alert, AlertState } from "@/api/alerts/types";
import { Cards } from "@/ui/list/card";
import { useHeldOrder } from "@/ui/list/held-order";
import { Dim } from "@/ui/text/text";
import type { AlertActions } from "../actions/use-alert-action";
import { AlertCard } from "../card/alert-card";
import { type AlertGroup, groupAlerts, sortAlerts } from "../model/text";
import classes from "./alerts-page.module.css";

interface Props {
  readonly state: AlertState;
  readonly alerts: readonly Alert[];
  readonly now: number;
  readonly act: AlertActions["act"];
  /** What the list answers; null while another answer is awaited. */
  readonly question: string | null;
}

/** Enough of one name to see what is the matter; ten thousand hosts without data are one matter. */
const FIRST = 3;

/** Alerts of one state, those of one incident or else of one name together. */
export function AlertSection({ state, alerts, now, act, question }: Props) {
  const { t } = useTranslation();
  const order = useMemo(() => sortAlerts(alerts).map(({ id }) => id), [alerts]);
  const [held, hold] = useHeldOrder(order, question);
  const groups = useMemo(() => groupAlerts(alerts, held), [alerts, held]);
  if (alerts.length === 0) return null;
  return (
    <section aria-labelledby={`alerts-${state}`} className={classes.section} {...hold}>
      <h2 id={`alerts-${state}`} className={classes.sectionTitle}>
        {t(`alerts.state_${state}`)}{" "}
        <Dim>
          {alerts.length}
          {held !== null && ` · ${t("list.held")}`}
        </Dim>
      </h2>
      {groups.map((group) => (
        <Group key={group.id} group={group} now={now} act={act} />
      ))}
    </section>
  );
}

function Group({ group, now, act }: { group: AlertGroup } & Pick<Props, "now" | "act">) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  const shown = open ? group.alerts : group.alerts.slice(0, FIRST);
  const hidden = group.alerts.length - FIRST;
  return (
    <div>
      <Cards aria-label={group.name}>
        {shown.map((alert) => (
          <AlertCard key={alert.id} alert={alert} others={group.others} now={now} onAct={act} />
        ))}
      </Cards>
      {hidden > 0 && (
        <Button variant="subtle" className={classes.tool ?? ""} aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? t("alerts.fewer", { name: group.name }) : t("alerts.moreOf", { total: hidden, name: group.name })}
        </Button>
      )}
    </div>
  );
}
