import { Button } from "@mantine/core";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import type { Alert } from "@/api/alerts/types";
import { serverNow } from "@/api/server-clock";
import { formatMeasure } from "@/lib/run-text";
import { formatDuration, inZone } from "@/lib/time/time";
import { useNow } from "@/lib/time/use-now";
import { useLocale } from "@/lib/use-locale";
import { useView } from "@/lib/view/context";
import { Icon } from "@/ui/icon";
import { Card, CardHead, Cards } from "@/ui/list/card";
import { Table } from "@/ui/list/table";
import { Dim, Hint } from "@/ui/text/text";
import { useNarrow } from "@/ui/use-narrow";
import { LabelChips } from "../card/label-chips";
import { SeverityMark } from "../card/severity-mark";
import { shortInstant } from "../model/short-instant";
import { type Matter, mattersOf, spanOf } from "../model/text";
import { useAlertPath } from "../model/use-alert-path";
import classes from "./history-page.module.css";

const FIRST = 100;

/** The incidents of the span in words, newest first; each opens to its other alerts. */
export function HistoryTable({ alerts }: { alerts: readonly Alert[] }) {
  const { t } = useTranslation();
  const [all, setAll] = useState(false);
  const [opened, setOpened] = useState<ReadonlySet<string>>(NONE);
  const now = useNow(serverNow, 10_000);
  const narrow = useNarrow();
  const matters = useMemo(() => mattersOf(alerts), [alerts]);
  const shown = all ? matters : matters.slice(0, FIRST);
  const lines = shown.flatMap((matter): Line[] => {
    const open = opened.has(matter.id);
    const first = { key: matter.id, matter, open, within: false };
    const others = open ? matter.others : [];
    return [
      first,
      ...others.map((one) => ({ key: one.id, matter: { id: one.id, head: one, others: [] }, open, within: true })),
    ];
  });
  const toggle = (id: string) => setOpened(opened.has(id) ? without(opened, id) : new Set([...opened, id]));
  return (
    <>
      {narrow ? (
        <Cards>
          {lines.map((line) => (
            <Card key={line.key} className={line.within ? (classes.within ?? "") : ""}>
              <Row line={line} now={now} onToggle={toggle} as="card" />
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
            {lines.map((line) => (
              <tr key={line.key} {...(line.within && { className: classes.within })}>
                <Row line={line} now={now} onToggle={toggle} as="row" />
              </tr>
            ))}
          </tbody>
        </Table>
      )}
      {matters.length > shown.length && (
        <Button variant="default" onClick={() => setAll(true)} className={classes.all ?? ""}>
          {t("alerts.history.all", { total: matters.length })}
        </Button>
      )}
    </>
  );
}

const NONE: ReadonlySet<string> = new Set<string>();
const without = (ids: ReadonlySet<string>, id: string) => new Set([...ids].filter((one) => one !== id));

interface Line {
  readonly key: string;
  readonly matter: Matter;
  readonly open: boolean;
  /** It is one of the others of the incident above. */
  readonly within: boolean;
}

interface RowProps {
  readonly line: Line;
  readonly now: number;
  readonly onToggle: (id: string) => void;
  readonly as: "row" | "card";
}

function Row({ line, now, onToggle, as }: RowProps) {
  const { t } = useTranslation();
  const locale = useLocale();
  const { zone } = useView();
  const path = useAlertPath();
  const { matter, open } = line;
  const { head: alert, others } = matter;
  const found = alert.finding;
  const { startMs, endMs } = spanOf(matter);
  const state = endMs === null ? "firing" : alert.state;
  const cells = {
    state: (
      <SeverityMark
        severity={alert.severity}
        state={state}
        calm={alert.run !== null}
        stopped={alert.resolved_reason === "stopped-sending"}
      />
    ),
    name: (
      <>
        <Link to={path(alert.id)} className={classes.name}>
          {alert.name}
        </Link>
        {found !== null && !line.within && (
          <Hint>
            {inZone(found.sentence[locale], zone, alert.active_ms)}
            {found.said_ms !== null &&
              ` (${t("alerts.note.asOf", { time: shortInstant(found.said_ms, now, zone, locale) })})`}
          </Hint>
        )}
        <LabelChips labels={alert.labels} />
        {others.length > 0 && (
          <button type="button" className={classes.more} aria-expanded={open} onClick={() => onToggle(matter.id)}>
            <Icon name={open ? "chevronDown" : "chevronRight"} size={12} />
            {t("alerts.incident.others", {
              total: others.length,
            })}
          </button>
        )}
      </>
    ),
    began: shortInstant(startMs, now, zone, locale),
    lasted: formatDuration((endMs ?? now) - startMs, locale),
    value: formatMeasure(alert.value, alert.unit, locale),
    end:
      endMs === null || alert.resolved_reason === null
        ? t("alerts.history.stillFiring")
        : t(`alerts.reason_${alert.resolved_reason}`),
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
