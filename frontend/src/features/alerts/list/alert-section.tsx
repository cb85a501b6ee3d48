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
  const sorted = useMemo(() => sortAlerts(alerts), [alerts]);
  const [held, hold] = useHeldOrder(sorted, question);
  const left = useMemo(() => leftSince(held ?? [], alerts), [alerts, held]);
  const groups = useMemo(
    () => groupAlerts([...alerts, ...left.values()], held?.map(({ id }) => id) ?? null),
    [alerts, held, left],
  );
  if (groups.length === 0) return null;
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
        <Group key={group.id} group={group} left={left} now={now} act={act} />
      ))}
    </section>
  );
}

/** What was looked at and is in the list no more, as it stood: it keeps its place, so that nothing moves up. */
function leftSince(held: readonly Alert[], alerts: readonly Alert[]): ReadonlyMap<string, Alert> {
  const there = new Set(alerts.map(({ id }) => id));
  return new Map(held.filter(({ id }) => !there.has(id)).map((alert) => [alert.id, alert]));
}

type GroupProps = { readonly group: AlertGroup; readonly left: ReadonlyMap<string, Alert> } & Pick<
  Props,
  "now" | "act"
>;

function Group({ group, left, now, act }: GroupProps) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  const shown = open ? group.alerts : group.alerts.slice(0, FIRST);
  const hidden = group.alerts.length - FIRST;
  return (
    <div>
      <Cards aria-label={group.name}>
        {shown.map((alert) => (
          <AlertCard
            key={alert.id}
            alert={alert}
            others={group.others.filter(({ id }) => !left.has(id))}
            left={left.has(alert.id)}
            now={now}
            onAct={act}
          />
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
