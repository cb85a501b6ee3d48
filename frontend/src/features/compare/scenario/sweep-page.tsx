import { Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { sweepQuery } from "@/api/compare/queries";
import { useLocale } from "@/lib/use-locale";
import { CommandLine } from "@/ui/command-line";
import { QueryFault } from "@/ui/fault/query-fault";
import { Loading } from "@/ui/loading";
import { PageHead } from "@/ui/page/page-head";
import { PageMessage } from "@/ui/page-message";
import { scenarioVersions, sweptParameters } from "../model/scenario-facts";
import { useAddress, useScenario } from "../model/use-scenario";
import { CapacitySection } from "./capacity-section";
import { MetricSelect, ScenarioPickers } from "./scenario-pickers";
import { SweepView } from "./sweep-view";

const FEWEST_VALUES = 2;

/** One scenario by one numeric parameter: two figures over its values. */
export function SweepPage() {
  const { t } = useTranslation();
  const [params, change] = useAddress();
  const known = useScenario(params.get("scenario"));
  const version = params.get("version");
  const parameters = sweptParameters(known.runs, version);
  const parameter = params.get("parameter") ?? parameters[0]?.key ?? null;
  const first = params.get("first") ?? "ok_rate";
  const second = params.get("second") ?? "p95";
  const ask = { scenario: known.scenario ?? "", version, parameter: parameter ?? "", first, second };
  const ready = known.scenario !== null && parameter !== null;
  const sweep = useQuery({ ...sweepQuery(ask, useLocale()), enabled: ready });
  const metrics = [...known.metrics, ...(sweep.data?.own ?? [])];
  const values = sweep.data?.points.length ?? 0;
  return (
    <>
      <PageHead title={t("compare.sweepTitle")} />
      {known.failed && <QueryFault title={t("compare.failed")} query={known.failed} />}
      {known.scenarios.length > 0 && (
        <ScenarioPickers
          scenario={known.scenario}
          scenarios={known.scenarios}
          version={version}
          versions={scenarioVersions(known.runs)}
          onScenario={(scenario) => change({ scenario, version: null, parameter: null })}
          onVersion={(next) => change({ version: next })}
        >
          <Select
            size="xs"
            w={150}
            label={t("compare.parameterLabel")}
            placeholder={t("compare.noParameter")}
            data={parameters.map(({ key, values: count }) => ({ value: key, label: `${key} (${count})` }))}
            value={parameter}
            onChange={(next) => next !== null && change({ parameter: next })}
            allowDeselect={false}
          />
          <MetricSelect
            label={t("compare.firstMetric")}
            metrics={metrics}
            value={first}
            onChange={(next) => change({ first: next })}
          />
          <MetricSelect
            label={t("compare.secondMetric")}
            metrics={metrics}
            value={second}
            onChange={(next) => change({ second: next })}
          />
        </ScenarioPickers>
      )}
      {(known.pending || (ready && sweep.isPending)) && <Loading height={420} label={t("compare.loading")} />}
      {ready && sweep.isError && <QueryFault title={t("compare.failed")} query={sweep} />}
      {!known.pending && !known.failed && (!ready || (sweep.data && values < FEWEST_VALUES)) && (
        <SweepNeeds scenario={known.scenario} parameter={parameter} />
      )}
      {ready && sweep.data && values >= FEWEST_VALUES && (
        <SweepView
          sweep={sweep.data}
          stale={sweep.isPlaceholderData}
          isLog={params.get("scale") === "log"}
          onLog={(isLog) => change({ scale: isLog ? "log" : null })}
        />
      )}
      {known.scenario !== null && !known.pending && <CapacitySection scenario={known.scenario} version={version} />}
    </>
  );
}

/** Which runs are missing, and the commands that make them. */
function SweepNeeds({ scenario, parameter }: { scenario: string | null; parameter: string | null }) {
  const { t } = useTranslation();
  const name = parameter ?? "pool";
  const command = [10, 20, 40, 80]
    .map((value) => `loadwatch run --scenario ${scenario ?? "ingest"} --param ${name}=${value} -- vegeta attack …`)
    .join("\n");
  return (
    <PageMessage icon="sweep" title={t("compare.sweepNeeds")}>
      <p>{t("compare.sweepNeedsHint", { parameter: name })}</p>
      <CommandLine text={command} />
      <p>{t("compare.sweepNeedsRepeats")}</p>
    </PageMessage>
  );
}
