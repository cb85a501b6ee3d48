import { Button } from "@mantine/core";
import { useCallback, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link, useNavigate, useSearchParams } from "react-router";
import type { RunLine } from "@/api/runs/types";
import { serverNow } from "@/api/server-clock";
import { useNow } from "@/lib/time/use-now";
import { QueryFault } from "@/ui/fault/query-fault";
import { Icon } from "@/ui/icon";
import { FilterBar, FilterSelect } from "@/ui/list/filter-bar";
import { inHeldOrder, useHeldOrder } from "@/ui/list/held-order";
import { LoadMore } from "@/ui/list/load-more";
import { useListKeys } from "@/ui/list/use-list-keys";
import { Loading } from "@/ui/loading";
import { PageHead } from "@/ui/page/page-head";
import { PageMessage } from "@/ui/page-message";
import { useNarrow } from "@/ui/use-narrow";
import { ImportDialog } from "../import/import-dialog";
import { ImportButton, ImportDrop } from "../import/import-drop";
import { ImportList } from "../import/import-list";
import { useImports } from "../import/use-imports";
import { ColumnChooser } from "./column-chooser";
import { FilterFields } from "./filter-fields";
import { comparePath, NO_FILTERS, RUN_SORTS, sortBy, toggleSelected } from "./list-state";
import { NoRuns } from "./no-runs";
import { RunsCards } from "./runs-cards";
import classes from "./runs-page.module.css";
import { RunsTable } from "./runs-table";
import { SelectionBar } from "./selection-bar";
import { useRunList, useRunListState } from "./use-run-list";

const NO_FILES: readonly File[] = [];
const keyOf = ({ id }: RunLine) => id;

/** Every load test that was run or imported. */
export function RunsPage() {
  const { t } = useTranslation();
  const [state, setState] = useRunListState();
  const list = useRunList(state);
  const [selected, setSelected] = useState<readonly string[]>([]);
  const [files, setFiles] = useState(NO_FILES);
  const imports = useImports();
  const now = useNow(serverNow, 10_000);
  const narrow = useNarrow();
  const pathOf = useRunPath();
  const navigate = useNavigate();
  const select = useCallback((id: string) => setSelected((held) => toggleSelected(held, id)), []);
  useListKeys({
    x: (id) => id !== undefined && select(id),
    c: () => selected.length > 1 && void navigate(comparePath(selected)),
  });
  const filtered = state.filters.q !== "" || Object.keys(state.filters.values).length > 0;
  const question = list.isPlaceholderData ? null : JSON.stringify([state.filters, state.sort, state.descending]);
  const [held, hold] = useHeldOrder(list.runs.map(keyOf), question);
  const rows = { runs: inHeldOrder(list.runs, held, keyOf), hold, now, selected, onSelect: select, pathOf };
  const findings = useMemo(
    () => [...new Set(list.runs.flatMap(({ first_limit }) => first_limit?.id || []))],
    [list.runs],
  );
  const empty = list.data !== undefined && list.total === 0;
  return (
    <ImportDrop onFiles={setFiles}>
      <PageHead
        title={t("runs.title")}
        aside={
          list.data && (
            <>
              {t("runs.total", { total: list.total })}
              {held !== null && ` · ${t("list.held")}`}
            </>
          )
        }
        actions={
          <>
            <PageLink to="/runs/trend" icon="trend" label={t("runs.trend")} />
            <PageLink to="/runs/sweep" icon="sweep" label={t("runs.sweep")} />
            <PageLink to="/runs/meeting" icon="people" label={t("runs.meeting")} />
            <PageLink to="/runs?actions=open" icon="check" label={t("actions.open")} />
            <ImportButton onFiles={setFiles} primary={false} />
          </>
        }
      />
      <ImportList items={imports.items} pathOf={pathOf} onDismiss={imports.dismiss} />
      <QueryFault title={t("runs.failed")} query={list} />
      {(!empty || filtered) && (
        <FilterBar label={t("runs.filters")}>
          <FilterFields
            filters={state.filters}
            findings={findings}
            onChange={(next) => setState((held) => ({ ...held, filters: next(held.filters) }))}
          />
          {narrow ? (
            <FilterSelect
              label={t("runs.sortBy")}
              value={state.sort}
              values={RUN_SORTS}
              name={(sort) => `${t("runs.sortBy")}: ${t(`runs.sort_${sort}`)}`}
              onChange={(sort) => sort !== null && setState((held) => sortBy(held, sort))}
            />
          ) : (
            <ColumnChooser columns={state.columns} onChange={(columns) => setState((held) => ({ ...held, columns }))} />
          )}
        </FilterBar>
      )}
      {list.isPending && <Loading height={320} label={t("runs.loading")} />}
      {empty && !filtered && <NoRuns onFiles={setFiles} />}
      {empty && filtered && (
        <PageMessage
          icon="search"
          title={t("runs.nothing")}
          actions={
            <Button size="xs" variant="default" onClick={() => setState((held) => ({ ...held, filters: NO_FILTERS }))}>
              {t("runs.clearFilters")}
            </Button>
          }
        />
      )}
      {list.runs.length > 0 && (
        <div aria-busy={list.isPlaceholderData}>
          {narrow ? (
            <RunsCards {...rows} />
          ) : (
            <>
              <RunsTable {...rows} state={state} onSort={(sort) => setState((held) => sortBy(held, sort))} />
              <p className={classes.keys}>{t("runs.keysHint")}</p>
            </>
          )}
        </div>
      )}
      <LoadMore label={t("runs.more")} query={list} auto />
      <SelectionBar selected={selected} onClear={() => setSelected([])} />
      {files.length > 0 && <ImportDialog files={files} onClose={() => setFiles(NO_FILES)} onStart={imports.start} />}
    </ImportDrop>
  );
}

/** A run's address; of the list's own only the time zone goes along. */
function useRunPath(): (id: string) => string {
  const [params] = useSearchParams();
  const zone = params.get("tz");
  return useCallback((id: string) => `/runs/${id}${zone === null ? "" : `?tz=${zone}`}`, [zone]);
}

function PageLink({ to, icon, label }: { to: string; icon: "trend" | "sweep" | "people" | "check"; label: string }) {
  return (
    <Link to={to} className={classes.pageLink}>
      <Icon name={icon} size={14} />
      {label}
    </Link>
  );
}
