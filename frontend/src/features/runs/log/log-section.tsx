import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { logPatternsQuery } from "@/api/evidence/queries";
import type { LogPattern } from "@/api/evidence/types";
import type { Run } from "@/api/runs/types";
import { formatCount, formatElapsed } from "@/lib/run-text";
import { formatValue } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { QueryFault } from "@/ui/fault/query-fault";
import { Table } from "@/ui/list/table";
import { Section } from "@/ui/page/section";
import { Dim, TextButton } from "@/ui/text/text";
import pageClasses from "../page/run-page.module.css";
import classes from "./log.module.css";

const RUNNING_MS = 5_000;
const FIRST = 12;

/** Log lines by pattern: what is new or grew against the time before the run; nothing where no log is followed. */
export function LogSection({ run }: { run: Run }) {
  const { t } = useTranslation();
  const locale = useLocale();
  const [all, setAll] = useState(false);
  const running = run.state === "running" && !run.silent;
  const list = useQuery({ ...logPatternsQuery(run.id), refetchInterval: running ? RUNNING_MS : false });
  if (!list.isError && !list.data?.followed) return null;
  const patterns = list.data?.patterns ?? [];
  const before = list.data === undefined ? 0 : (list.data.from_ms - list.data.before_from_ms) / 1000;
  const shown = all ? patterns : patterns.slice(0, FIRST);
  return (
    <Section id="log" title={t("log.title")} aside={t("log.hint", { time: formatValue(before, "seconds", locale) })}>
      <QueryFault title={t("log.failed")} query={list} />
      {list.data !== undefined && patterns.length === 0 && <p>{t("log.none")}</p>}
      {shown.length > 0 && <PatternTable run={run} patterns={shown} />}
      {patterns.length > shown.length && (
        <TextButton onClick={() => setAll(true)}>{t("log.more", { count: patterns.length - shown.length })}</TextButton>
      )}
    </Section>
  );
}

function PatternTable({ run, patterns }: { run: Run; patterns: readonly LogPattern[] }) {
  const { t } = useTranslation();
  return (
    <Table label={t("log.table")} bare className={pageClasses.table}>
      <thead>
        <tr>
          <th scope="col">{t("log.trend")}</th>
          <th scope="col">{t("log.level")}</th>
          <th scope="col" data-number>
            {t("log.count")}
          </th>
          <th scope="col" data-number>
            {t("log.before")}
          </th>
          <th scope="col">{t("log.pattern")}</th>
          <th scope="col" data-number>
            {t("log.first")}
          </th>
          <th scope="col">{t("log.where")}</th>
        </tr>
      </thead>
      <tbody>
        {patterns.map((one) => (
          <tr key={`${one.level} ${one.pattern}`}>
            <td
              className={classes.trend}
              data-trend={one.trend}
              title={one.trend === "unknown" ? t("log.unknownHint") : undefined}
            >
              {t(`log.trend_${one.trend}`)}
            </td>
            <td>{t(`log.level_${(one.level || "none") as "none"}`)}</td>
            <td data-number>{formatCount(one.count)}</td>
            <td data-number data-dim="true">
              {one.before === null ? "–" : formatCount(one.before)}
            </td>
            <th scope="row" className={classes.pattern}>
              {one.pattern === "" ? <Dim>{t("log.other")}</Dim> : <code>{one.pattern}</code>}
            </th>
            <td data-number>
              {one.first_ms === null
                ? "–"
                : formatElapsed(Math.max(0, Math.round((one.first_ms - run.started_ms) / 1000)))}
            </td>
            <td>{one.targets.join(", ")}</td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}
