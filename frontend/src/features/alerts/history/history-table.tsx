import { Button } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import type { Alert } from "@/api/alerts/types";
import { serverNow } from "@/api/server-clock";
import { formatMeasure } from "@/lib/run-text";
import { formatDuration } from "@/lib/time/time";
import { useNow } from "@/lib/time/use-now";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { Card, CardHead, Cards } from "@/ui/list/card";
import { Table } from "@/ui/list/table";
import { Dim, Hint } from "@/ui/text/text";
import { useNarrow } from "@/ui/use-narrow";
import { LabelChips } from "../card/label-chips";
import { SeverityMark } from "../card/severity-mark";
import { beginOf } from "../model/lanes";
import { shortInstant } from "../model/short-instant";
import { useAlertPath } from "../model/use-alert-path";
import classes from "./history-page.module.css";

const FIRST = 100;

/** The alerts of the span in words, newest first. */
export function HistoryTable({ alerts }: { alerts: readonly Alert[] }) {
  const { t } = useTranslation();
  const [all, setAll] = useState(false);
  const now = useNow(serverNow, 10_000);
  const narrow = useNarrow();
  const shown = all ? alerts : alerts.slice(0, FIRST);
  return (
    <>
      {narrow ? (
        <Cards>
          {shown.map((alert) => (
            <Card key={alert.id}>
              <Row alert={alert} now={now} as="card" />
            </Card>
          ))}
        </Cards>
      ) : (
        <Table label={t("alerts.history.title")} className={classes.table}>
          <thead>
            <tr>
              {(["state", "name", "began", "lasted", "value", "end", "run"] as const).map((column) => (
                <th key={column} scope="col">
                  {t(`alerts.history.column_${column}`)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((alert) => (
              <tr key={alert.id}>
                <Row alert={alert} now={now} as="row" />
              </tr>
            ))}
          </tbody>
        </Table>
      )}
      {alerts.length > shown.length && (
        <Button variant="default" onClick={() => setAll(true)} className={classes.all ?? ""}>
          {t("alerts.history.all", { total: alerts.length })}
        </Button>
      )}
    </>
  );
}

function Row({ alert, now, as }: { alert: Alert; now: number; as: "row" | "card" }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { zone } = useView();
  const path = useAlertPath();
  const begin = beginOf(alert);
  const cells = {
    state: <SeverityMark severity={alert.severity} state={alert.state} />,
    name: (
      <>
        <Link to={path(alert.id)} className={classes.name}>
          {alert.name}
        </Link>
        <LabelChips labels={alert.labels} />
      </>
    ),
    began: shortInstant(begin, now, zone, locale),
    lasted: formatDuration((alert.resolved_ms ?? now) - begin, locale),
    value: formatMeasure(alert.value, alert.unit, locale),
    end: alert.resolved_reason === null ? t("alerts.history.stillFiring") : t(`alerts.reason_${alert.resolved_reason}`),
    run: alert.run !== null && (
      <Link to={`/runs/${alert.run.id}`} className={classes.link}>
        {alert.run.name || alert.run.id}
      </Link>
    ),
  };
  if (as === "card") {
    return (
      <>
        <CardHead>
          {cells.state}
          <Dim>{cells.began}</Dim>
        </CardHead>
        {cells.name}
        <Hint>
          {t("alerts.lasted", { span: cells.lasted })} · {cells.end}
        </Hint>
        {cells.run}
      </>
    );
  }
  return Object.entries(cells).map(([column, cell]) => <td key={column}>{cell}</td>);
}
