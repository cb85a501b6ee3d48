import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { alertHistoryQuery, type HistorySpan, historySpanQuery } from "@/api/alerts/queries";
import { serverNow } from "@/api/server-clock";
import { followsNow, formatPoint, lastRange, resolveRange } from "@/lib/time/range";
import type { Range } from "@/lib/time/time";
import { useNow } from "@/lib/time/use-now";
import { useParams, withParams } from "@/lib/use-params";
import { useView, ViewProvider } from "@/lib/view/context";
import { AlertsNav } from "@/panels/alerts-nav";
import { RangeControls } from "@/panels/range/range-controls";
import { useRangeKeys } from "@/panels/range/use-range-keys";
import { QueryFault } from "@/ui/fault/query-fault";
import { FilterBar } from "@/ui/list/filter-bar";
import { SearchField } from "@/ui/list/search-field";
import { Loading } from "@/ui/loading";
import { PageHead } from "@/ui/page/page-head";
import { PageMessage } from "@/ui/page-message";
import { Hint } from "@/ui/text/text";
import { mattersOf } from "../model/text";
import classes from "./history-page.module.css";
import { HistoryTable } from "./history-table";

const GRAIN_MS = 10_000;

/** Alerts that fired within a span, as a table of their incidents. */
export function HistoryPage() {
  const { t } = useTranslation();
  const span = useQuery(historySpanQuery());
  // What cannot be asked is told where the alerts themselves are.
  if (span.isPending) {
    return (
      <>
        <AlertsNav />
        <Loading height={220} label={t("alerts.loading")} />
      </>
    );
  }
  return <HistoryOver usual={span.data ?? "24h"} />;
}

function HistoryOver({ usual }: { usual: HistorySpan }) {
  const range = useMemo(() => lastRange(usual), [usual]);
  return (
    <ViewProvider usual={range}>
      <AlertsNav />
      <History />
    </ViewProvider>
  );
}

function History() {
  const { t } = useTranslation();
  const view = useView();
  useRangeKeys(true);
  const [search, setSearch] = useSearch();
  const range = useShownRange();
  const spanKey = `${formatPoint(view.range.from)} ${formatPoint(view.range.to)} ${view.pausedAt ?? ""}`;
  const history = useQuery({
    ...alertHistoryQuery(spanKey, range.startMs, range.endMs, search),
    refetchInterval: followsNow(view.range) && view.pausedAt === null ? GRAIN_MS : false,
    placeholderData: keepPreviousData,
  });
  const alerts = history.data?.alerts;
  const incidents = useMemo(() => mattersOf(alerts ?? []).length, [alerts]);
  return (
    <>
      <PageHead
        title={t("alerts.history.title")}
        aside={alerts && t("alerts.history.total", { total: alerts.length, incidents })}
        actions={<RangeControls />}
      />
      <FilterBar>
        <SearchField value={search} label={t("alerts.search")} onChange={setSearch} />
      </FilterBar>
      <div className={classes.page}>
        <QueryFault title={t("alerts.history.failed")} query={history} />
        {history.isPending && <Loading height={220} label={t("alerts.loading")} />}
        {history.data?.more === true && <Hint>{t("alerts.history.more")}</Hint>}
        {alerts?.length === 0 && (
          <PageMessage icon="check" title={search === "" ? t("alerts.history.none") : t("alerts.nothing")}>
            <p>{t("alerts.history.noneHint")}</p>
          </PageMessage>
        )}
        {alerts !== undefined && alerts.length > 0 && (
          <div aria-busy={history.isPlaceholderData} className={classes.results}>
            <HistoryTable alerts={alerts} />
          </div>
        )}
      </div>
    </>
  );
}

/** The range to ask about; one that follows the clock moves on in steps, so that answers can be kept. */
function useShownRange(): Range {
  const view = useView();
  const now = useNow(serverNow, GRAIN_MS);
  const { start, end } = resolveRange(view.range, view.pausedAt ?? Math.ceil(now / GRAIN_MS) * GRAIN_MS);
  return useMemo(() => ({ startMs: Math.max(0, start), endMs: end }), [start, end]);
}

function useSearch(): readonly [string, (search: string) => void] {
  const [params, edit] = useParams();
  const change = (search: string) => edit((held) => withParams(held, { search: search || null }), true);
  return [params.get("search") ?? "", change];
}
