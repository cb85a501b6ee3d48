import { useTranslation } from "react-i18next";
import type { AuditEntry } from "@/api/access/types";
import { useTimes } from "@/lib/time/use-times";
import { Card, CardHead, Cards } from "@/ui/list/card";
import { Table } from "@/ui/list/table";
import { StateMark } from "@/ui/state-mark";
import { Disclosure } from "@/ui/text/disclosure";
import { Dim, Excerpt, Hint } from "@/ui/text/text";
import { useNarrow } from "@/ui/use-narrow";
import classes from "./audit.module.css";

/** Entries as a table, or as cards where it is narrow. */
export function AuditList({ entries, stale }: { entries: readonly AuditEntry[]; stale: boolean }) {
  const narrow = useNarrow();
  return <div aria-busy={stale}>{narrow ? <Narrow entries={entries} /> : <Rows entries={entries} />}</div>;
}

function Rows({ entries }: { entries: readonly AuditEntry[] }) {
  const { t } = useTranslation();
  const times = useTimes();
  return (
    <Table label={t("users.tab_audit")}>
      <thead>
        <tr>
          <th scope="col">{t("users.audit.at")}</th>
          <th scope="col">{t("users.audit.who")}</th>
          <th scope="col">{t("users.audit.action")}</th>
          <th scope="col">{t("users.audit.subject")}</th>
          <th scope="col">{t("users.audit.outcome")}</th>
          <th scope="col">{t("users.audit.address")}</th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <tr key={entry.id} data-action={entry.action}>
            <td>{times.instant(entry.at_ms)}</td>
            <td>
              <Actor entry={entry} />
            </td>
            <td>
              <code>{entry.action}</code>
            </td>
            <td className={classes.subject}>
              {entry.subject}
              <Detail entry={entry} />
            </td>
            <td>
              <Outcome entry={entry} />
            </td>
            <td>{entry.address}</td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

function Narrow({ entries }: { entries: readonly AuditEntry[] }) {
  const { t } = useTranslation();
  const times = useTimes();
  return (
    <Cards aria-label={t("users.tab_audit")}>
      {entries.map((entry) => (
        <Card key={entry.id} data-action={entry.action}>
          <CardHead>
            <code>{entry.action}</code>
            <Outcome entry={entry} />
          </CardHead>
          {entry.subject !== "" && <p className={classes.subject}>{entry.subject}</p>}
          <Hint>
            {times.instant(entry.at_ms)} · <Actor entry={entry} />
            {entry.address !== "" && ` · ${entry.address}`}
          </Hint>
          <Detail entry={entry} />
        </Card>
      ))}
    </Cards>
  );
}

function Actor({ entry }: { entry: AuditEntry }) {
  const { t } = useTranslation();
  if (entry.actor === "") return <Dim>{t("users.audit.stranger")}</Dim>;
  return (
    <>
      {entry.actor}
      {entry.actor_kind === "token" && <Dim> ({t("users.audit.token")})</Dim>}
    </>
  );
}

function Outcome({ entry }: { entry: AuditEntry }) {
  const { t } = useTranslation();
  return entry.outcome === "ok" ? (
    <StateMark tone="ok" label={t("users.audit.ok")} />
  ) : (
    <StateMark tone="bad" label={entry.outcome} />
  );
}

function Detail({ entry }: { entry: AuditEntry }) {
  const { t } = useTranslation();
  if (Object.keys(entry.detail).length === 0) return null;
  return (
    <Disclosure summary={t("users.audit.detail")}>
      <Excerpt>{JSON.stringify(entry.detail, null, 2)}</Excerpt>
    </Disclosure>
  );
}
