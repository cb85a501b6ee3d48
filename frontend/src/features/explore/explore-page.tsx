import { Button, Menu, NativeSelect, SegmentedControl } from "@mantine/core";
import { type QueryKey, useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { ApiError } from "@/api/client";
import { instantQuery, rangeQuery } from "@/api/explore/queries";
import { useMay } from "@/lib/access-scopes";
import { UNITS, unitLabel } from "@/lib/units";
import { useLocale } from "@/lib/use-locale";
import { useParams, withParams } from "@/lib/use-params";
import { useView } from "@/lib/view/context";
import { FaultText } from "@/ui/fault/problem";
import { Loading } from "@/ui/loading";
import { PageHead } from "@/ui/page/page-head";
import { Section } from "@/ui/page/section";
import { unitOf } from "./answers";
import classes from "./explore.module.css";
import { readHistory, remember } from "./history";
import { MakePanel } from "./make-panel";
import { MetricFinder } from "./metric-finder";
import { PromqlEditor } from "./promql-editor";
import { ResultChart, ResultTable } from "./result";
import { StepCounts } from "./step-counts";

const REFRESH_MS = 5000;

/** Any PromQL expression, as a chart or as rows; the address holds it. */
export function ExplorePage() {
  const { t } = useTranslation();
  const locale = useLocale();
  const [params, change] = useParams();
  const expression = params.get("expr") ?? "";
  const rows = params.get("as") === "rows";
  const unit = UNITS.find((one) => one === params.get("unit")) ?? unitOf(expression);
  const [draft, setDraft] = useState(expression);
  const [opened, setOpened] = useState("");
  const [making, setMaking] = useState(false);
  const may = useMay("admin");
  const insert = useRef<((text: string) => void) | null>(null);
  useEffect(() => setDraft(expression), [expression]);
  const set = (changed: Readonly<Record<string, string | null>>) => change((held) => withParams(held, changed), true);

  const { range, pausedAt, live } = useView();
  const follow = {
    // What the server refuses is not asked again by itself; a server that is away is.
    refetchInterval: ({ state: { error } }: { state: { error: Error | null } }) =>
      live && (error === null || (error instanceof ApiError && error.status === 0)) && REFRESH_MS,
    // Another range draws over the one before, another expression does not.
    placeholderData: <T,>(former: T, query?: { queryKey: QueryKey }) =>
      query?.queryKey[2] === expression ? former : undefined,
  } as const;
  const isThere = expression !== "";
  const chart = useQuery({ ...rangeQuery(expression, range, pausedAt), ...follow, enabled: isThere && !rows });
  const table = useQuery({ ...instantQuery(expression, range, pausedAt), ...follow, enabled: isThere && rows });
  const { error, isFetching, isLoading, data, refetch } = rows ? table : chart;
  const parts = isThere && (opened === expression || (data?.result.length === 0 && error === null));

  const run = (text: string) => {
    const next = text.trim();
    if (next === "") return;
    remember(next);
    if (next === expression) void refetch();
    else change((held) => withParams(held, { expr: next, unit: null }), false);
  };
  return (
    <>
      <PageHead title={t("nav.explore")} actions={<History onPick={run} />} />
      <Section label={t("explore.expression")}>
        <div className={classes.editor}>
          <PromqlEditor
            key={locale}
            value={draft}
            label={t("explore.expression")}
            insert={insert}
            onChange={setDraft}
            onRun={run}
          />
          <Button size="xs" onClick={() => run(draft)}>
            {t("explore.run")}
          </Button>
        </div>
        <FaultText error={error} what={t("explore.failed")} />
      </Section>
      {isThere && (
        <div className={classes.bar}>
          <SegmentedControl
            size="xs"
            aria-label={t("explore.view")}
            value={rows ? "rows" : "chart"}
            onChange={(next) => set({ as: next === "rows" ? "rows" : null })}
            data={[
              { value: "chart", label: t("explore.chart") },
              { value: "rows", label: t("explore.table") },
            ]}
          />
          {!rows && (
            <NativeSelect
              size="xs"
              aria-label={t("explore.unit")}
              value={unit}
              data={UNITS.map((value) => ({ value, label: unitLabel(value, locale) }))}
              onChange={(event) => set({ unit: event.currentTarget.value })}
            />
          )}
          <Button size="xs" variant="default" aria-expanded={parts} onClick={() => setOpened(parts ? "" : expression)}>
            {t("explore.why")}
          </Button>
          {may && (
            <Button size="xs" variant="default" disabled={error !== null} onClick={() => setMaking(true)}>
              {t("explore.makePanel")}
            </Button>
          )}
        </div>
      )}
      {making && (
        <MakePanel
          expression={expression}
          unit={unit}
          found={(data?.result ?? []).map(({ metric }) => metric)}
          onClose={() => setMaking(false)}
        />
      )}
      <div className={classes.results} aria-busy={isFetching && data !== undefined && !live}>
        {!rows && chart.data && <ResultChart expression={expression} unit={unit} answer={chart.data} />}
        {rows && table.data && <ResultTable answer={table.data} />}
        {isLoading && <Loading height={320} label={t("explore.loading")} />}
        {parts && <StepCounts expression={expression} />}
        <MetricFinder onPick={(name) => insert.current?.(name)} />
      </div>
    </>
  );
}

/** The last expressions of this browser. */
function History({ onPick }: { onPick: (expression: string) => void }) {
  const { t } = useTranslation();
  const [held, setHeld] = useState(readHistory);
  return (
    <Menu position="bottom-end" onOpen={() => setHeld(readHistory())}>
      <Menu.Target>
        <Button size="xs" variant="default">
          {t("explore.history")}
        </Button>
      </Menu.Target>
      <Menu.Dropdown className={classes.history ?? ""}>
        {held.length === 0 && <Menu.Label>{t("explore.historyNone")}</Menu.Label>}
        {held.map((one) => (
          <Menu.Item key={one} onClick={() => onPick(one)}>
            <code>{one}</code>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
