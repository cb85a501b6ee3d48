import { SegmentedControl, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { trendQuery } from "@/api/compare/queries";
import { useLocale } from "@/lib/use-locale";
import { CommandLine } from "@/ui/command-line";
import { QueryFault } from "@/ui/fault/query-fault";
import { Loading } from "@/ui/loading";
import { PageHead } from "@/ui/page/page-head";
import { PageMessage } from "@/ui/page-message";
import { scenarioVersions } from "../model/scenario-facts";
import { useAddress, useScenario } from "../model/use-scenario";
import { MetricSelect, ScenarioPickers } from "./scenario-pickers";
import { TrendView } from "./trend-view";

const ALL = "";

/** A figure over all runs of a scenario, with the runs from which on it was different. */
export function TrendPage() {
  const { t } = useTranslation();
  const [params, change] = useAddress();
  const known = useScenario(params.get("scenario"));
  const version = params.get("version");
  const metric = params.get("metric") ?? "p95";
  const ready = known.scenario !== null;
  const ask = { scenario: known.scenario ?? "", version, metric };
  const trend = useQuery({ ...trendQuery(ask, useLocale()), enabled: ready });
  const axis = params.get("x") === "time" ? "time" : "order";
  const groups = trend.data?.series ?? [];
  const group = groups.find(({ id }) => id === params.get("group"))?.id ?? null;
  const versions = new Map(known.runs.map((run) => [run.id, run.scenario_version]));
  return (
    <>
      <PageHead
        title={t("compare.trendTitle")}
        actions={
          <SegmentedControl
            size="xs"
            aria-label={t("compare.axis")}
            value={axis}
            onChange={(next) => change({ x: next === "time" ? "time" : null })}
            data={[
              { value: "order", label: t("compare.axis_order") },
              { value: "time", label: t("compare.axis_time") },
            ]}
          />
        }
      />
      {known.failed && <QueryFault title={t("compare.failed")} query={known.failed} />}
      {known.scenarios.length > 0 && (
        <ScenarioPickers
          scenario={known.scenario}
          scenarios={known.scenarios}
          version={version}
          versions={scenarioVersions(known.runs)}
          onScenario={(scenario) => change({ scenario, version: null, group: null })}
          onVersion={(next) => change({ version: next })}
        >
          <MetricSelect
            label={t("compare.metric")}
            metrics={[...known.metrics, ...(trend.data?.routes ?? []), ...(trend.data?.own ?? [])]}
            value={metric}
            onChange={(next) => change({ metric: next })}
          />
          {groups.length > 1 && (
            <Select
              size="xs"
              w={220}
              label={t("compare.group")}
              data={[
                { value: ALL, label: t("compare.allGroups", { count: groups.length }) },
                ...groups.map(({ id, label, runs }) => ({
                  value: id,
                  label: `${label || t("compare.noParameters")} (${runs})`,
                })),
              ]}
              value={group ?? ALL}
              onChange={(next) => change({ group: next === ALL ? null : next })}
              allowDeselect={false}
            />
          )}
        </ScenarioPickers>
      )}
      {(known.pending || (ready && trend.isPending)) && <Loading height={420} label={t("compare.loading")} />}
      {ready && trend.isError && <QueryFault title={t("compare.failed")} query={trend} />}
      {!known.pending && !known.failed && (!ready || trend.data?.points.length === 0) && (
        <PageMessage icon="trend" title={t("compare.trendNone")}>
          <p>{t("compare.trendNoneHint")}</p>
          <CommandLine text={`loadwatch run --scenario ${known.scenario ?? "ingest"} -- vegeta attack …`} />
        </PageMessage>
      )}
      {ready && trend.data && trend.data.points.length > 0 && (
        <TrendView trend={trend.data} stale={trend.isPlaceholderData} axis={axis} group={group} versions={versions} />
      )}
    </>
  );
}
