import { NativeSelect, SegmentedControl, Skeleton, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { targetsQuery } from "@/api/queries";
import { QueryFault } from "@/ui/fault/query-fault";
import { Icon } from "@/ui/icon";
import { usePageTitle } from "@/ui/page/use-page-title";
import { useNarrow } from "@/ui/use-narrow";
import { fieldName } from "./field-name";
import { NoTargets } from "./no-targets";
import { TargetCards } from "./target-cards";
import { DEFAULT_SORT, filterRows, type Health, type Sort, type SortField, sortRows, targetRows } from "./target-rows";
import { TargetTable } from "./target-table";
import classes from "./targets-page.module.css";

const REFRESH_MS = 2000;
const HEALTHS: readonly Health[] = ["up", "down", "unknown"];
const FIELDS: readonly SortField[] = ["health", "job", "instance", "collector", "lag", "duration", "cpu", "samples"];

/** Health, lag, cost and last error of every collector. */
export function TargetsPage() {
  const { t } = useTranslation();
  const targets = useQuery({ ...targetsQuery, refetchInterval: REFRESH_MS });
  const [text, setText] = useState("");
  const [health, setHealth] = useState<Health | null>(null);
  const [sort, setSort] = useState<Sort>(DEFAULT_SORT);
  const narrow = useNarrow();
  usePageTitle(t("targets.title"));
  const rows = targetRows(targets.data?.targets ?? []);
  const shown = sortRows(filterRows(rows, text, health), sort);
  const up = rows.filter((row) => row.health === "up").length;
  const pick = (field: SortField) =>
    setSort((held) => ({ field, descending: held.field === field ? !held.descending : false }));
  return (
    <>
      <div className={classes.head}>
        <h1 className={classes.title}>{t("targets.title")}</h1>
        {rows.length > 0 && <p className={classes.summary}>{t("targets.summary", { up, total: rows.length })}</p>}
        <Link className={classes.summary ?? ""} to="/timeouts">
          {t("timeouts.link")}
        </Link>
      </div>
      <QueryFault title={t("targets.failed")} query={targets} />
      {targets.isPending && <Skeleton height={240} radius={6} animate={false} aria-label={t("targets.loading")} />}
      {targets.data && rows.length === 0 && <NoTargets />}
      {rows.length > 0 && (
        <>
          <div className={classes.tools}>
            <TextInput
              className={classes.search ?? ""}
              size="sm"
              aria-label={t("targets.search")}
              placeholder={t("targets.search")}
              leftSection={<Icon name="search" size={14} />}
              value={text}
              onChange={(event) => setText(event.currentTarget.value)}
            />
            <SegmentedControl
              size="sm"
              aria-label={t("targets.state")}
              value={health ?? "all"}
              onChange={(value) => setHealth(HEALTHS.find((one) => one === value) ?? null)}
              data={[
                { value: "all", label: `${t("targets.all")} ${rows.length}` },
                ...HEALTHS.map((one) => ({
                  value: one,
                  label: `${t(`targets.state_${one}`)} ${rows.filter((row) => row.health === one).length}`,
                })),
              ]}
            />
            {narrow && (
              <NativeSelect
                size="sm"
                aria-label={t("targets.sortBy")}
                value={sort.field}
                onChange={(event) => setSort({ field: event.currentTarget.value as SortField, descending: false })}
                data={FIELDS.map((field) => ({
                  value: field,
                  label: `${t("targets.sortBy")}: ${fieldName(field, t)}`,
                }))}
              />
            )}
          </div>
          {shown.length === 0 && <p className={classes.nothing}>{t("targets.nothing")}</p>}
          {shown.length > 0 &&
            (narrow ? <TargetCards rows={shown} /> : <TargetTable rows={shown} sort={sort} onSort={pick} />)}
        </>
      )}
    </>
  );
}
