import { Button, SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { compareQuery } from "@/api/compare/queries";
import type { Comparison } from "@/api/compare/types";
import { saveCsv } from "@/charts/export/export";
import { useLocale } from "@/lib/use-locale";
import { QueryFault } from "@/ui/fault/query-fault";
import { Icon } from "@/ui/icon";
import { Loading } from "@/ui/loading";
import { PageHead } from "@/ui/page/page-head";
import { PageMessage } from "@/ui/page-message";
import classes from "../compare.module.css";
import { runSlots } from "../model/overlay-series";
import { type CompareState, LEAST_RUNS } from "../model/state";
import { comparisonCsv } from "../model/table";
import { useCompareState } from "../model/use-compare-state";
import { AddRun } from "./add-run";
import { CostSection } from "./cost-section";
import { DifferencesSection } from "./differences-section";
import { EndpointTable } from "./endpoint-table";
import { GroupCards } from "./group-cards";
import { Headlines } from "./headlines";
import { OverlayCharts } from "./overlay-charts";
import { Remarks, Repeats } from "./remarks";
import { SignalsTable } from "./signals-table";

/** 2 to 8 runs side by side. */
export function ComparePage() {
  const { t } = useTranslation();
  const [state, change] = useCompareState();
  const enough = state.runs.length >= LEAST_RUNS;
  const comparison = useQuery({
    ...compareQuery(state.runs, state.align, state.percentiles, useLocale()),
    enabled: enough,
  });
  return (
    <>
      <PageHead
        title={t("compare.title")}
        actions={
          <>
            <AddRun runs={state.runs} onAdd={(run) => change({ runs: [...state.runs, run] })} />
            {enough && (
              <SegmentedControl
                size="xs"
                aria-label={t("compare.align")}
                value={state.align}
                onChange={(align) => change({ align: align === "steady" ? "steady" : "start", zoom: null })}
                data={[
                  { value: "start", label: t("compare.align_start") },
                  { value: "steady", label: t("compare.align_steady") },
                ]}
              />
            )}
            {enough && (
              <Button
                size="xs"
                variant="default"
                leftSection={<Icon name="download" size={14} />}
                disabled={comparison.data === undefined}
                onClick={() =>
                  comparison.data && saveCsv(t("compare.title"), Date.now(), comparisonCsv(comparison.data))
                }
              >
                {t("compare.csv")}
              </Button>
            )}
          </>
        }
      />
      {!enough && (
        <PageMessage icon="compare" title={t("compare.tooFew")}>
          <p>{t("compare.tooFewHint")}</p>
          {state.runs.map((run) => (
            <p key={run}>
              <Link to={`/runs/${run}`}>{t("compare.chosen", { run })}</Link>
            </p>
          ))}
        </PageMessage>
      )}
      {enough && comparison.isError && <QueryFault title={t("compare.failed")} query={comparison} />}
      {enough && comparison.isPending && <Loading height={320} label={t("compare.loading")} />}
      {enough && comparison.data && !comparison.isError && (
        <div aria-busy={comparison.isPlaceholderData} className={classes.body}>
          <ComparisonBody data={comparison.data} state={state} onChange={change} />
        </div>
      )}
    </>
  );
}

interface BodyProps {
  readonly data: Comparison;
  readonly state: CompareState;
  readonly onChange: (change: Partial<CompareState>) => void;
}

function ComparisonBody({ data, state, onChange }: BodyProps) {
  const slots = useMemo(() => runSlots(data.groups), [data.groups]);
  const props = { data, slots, state, onChange };
  return (
    <>
      <Headlines data={data} slots={slots} />
      <Remarks data={data} />
      <GroupCards {...props} />
      <OverlayCharts {...props} />
      <SignalsTable {...props} />
      <Repeats data={data} />
      <DifferencesSection data={data} slots={slots} />
      <EndpointTable {...props} />
      <CostSection data={data} />
    </>
  );
}
