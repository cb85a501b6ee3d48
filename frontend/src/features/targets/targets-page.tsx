import { SegmentedControl, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { targetsQuery } from "@/api/queries";
import { useAddressedPart } from "@/lib/use-addressed-part";
import { GoneTargets } from "@/panels/gone-targets";
import { PoolsSection } from "@/panels/pools/pools-section";
import { QueryFault } from "@/ui/fault/query-fault";
import { FilterBar, FilterSelect } from "@/ui/list/filter-bar";
import { SearchField } from "@/ui/list/search-field";
import { Loading } from "@/ui/loading";
import { PageHead } from "@/ui/page/page-head";
import { useNarrow } from "@/ui/use-narrow";
import { fieldName } from "./field-name";
import { NoTargets } from "./no-targets";
import { StoreSection } from "./store-section";
import { TargetCards } from "./target-cards";
import { DEFAULT_SORT, filterRows, type Health, type Sort, type SortField, sortRows, targetRows } from "./target-rows";
import { TargetTable } from "./target-table";
import classes from "./targets-page.module.css";
import { TimeoutsSection } from "./timeouts-section";

const REFRESH_MS = 2000;
const HEALTHS: readonly Health[] = ["up", "down", "unknown", "gone"];
const FIELDS: readonly SortField[] = ["health", "job", "instance", "collector", "lag", "duration", "cpu", "samples"];

/** Health, lag, cost and last error of every collector. */
export function TargetsPage() {
  const { t } = useTranslation();
  const targets = useQuery({ ...targetsQuery, refetchInterval: REFRESH_MS });
  const [text, setText] = useState("");
  const [health, setHealth] = useState<Health | null>(null);
  const [sort, setSort] = useState<Sort>(DEFAULT_SORT);
  const narrow = useNarrow();
  useAddressedPart(targets.isSuccess);
  const rows = targetRows(targets.data?.targets ?? []);
  const shown = sortRows(filterRows(rows, text, health), sort);
  const up = rows.filter((row) => row.health === "up").length;
  const total = rows.filter((row) => row.health !== "gone").length;
  const pick = (field: SortField) =>
    setSort((held) => ({ field, descending: held.field === field ? !held.descending : false }));
  return (
    <>
      <PageHead title={t("targets.title")} aside={rows.length > 0 && t("targets.summary", { up, total })}>
        <Link to="/connect">{t("connect.link")}</Link>
        <a href="#pools">{t("pools.title")}</a>
        <a href="#timeouts">{t("timeouts.title")}</a>
        <a href="#store">{t("store.title")}</a>
      </PageHead>
      <QueryFault title={t("targets.failed")} query={targets} />
      <GoneTargets />
      {targets.isPending && <Loading height={240} label={t("targets.loading")} />}
      {targets.data && rows.length === 0 && <NoTargets />}
      {rows.length > 0 && (
        <>
          <FilterBar>
            <SearchField label={t("targets.search")} value={text} onChange={setText} />
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
              <FilterSelect
                label={t("targets.sortBy")}
                value={sort.field}
                values={FIELDS}
                name={(field) => `${t("targets.sortBy")}: ${fieldName(field, t)}`}
                onChange={(field) => field !== null && setSort({ field, descending: false })}
              />
            )}
          </FilterBar>
          {shown.length === 0 && <p className={classes.nothing}>{t("targets.nothing")}</p>}
          {shown.length > 0 &&
            (narrow ? <TargetCards rows={shown} /> : <TargetTable rows={shown} sort={sort} onSort={pick} />)}
        </>
      )}
      <Stack gap="sm" mt="sm">
        <PoolsSection />
        <TimeoutsSection />
        <StoreSection />
      </Stack>
    </>
  );
}
