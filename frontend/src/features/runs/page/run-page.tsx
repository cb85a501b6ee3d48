import { Button } from "@mantine/core";
import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import { Link, useParams } from "react-router";
import { ApiError } from "@/api/client";
import { runQuery } from "@/api/runs/queries";
import type { Run } from "@/api/runs/types";
import { detailOf, runTitle } from "@/lib/run-text";
import { useAddressedPart } from "@/lib/use-addressed-part";
import { useLocale } from "@/lib/use-locale";
import { firstEvidence } from "@/panels/findings/model";
import { useWorstOf, WorstInstances } from "@/panels/findings/worst";
import { NotesLayer } from "@/panels/notes/notes-layer";
import { PoolsSection } from "@/panels/pools/pools-section";
import { FirstChart } from "@/panels/run/first-chart";
import { KeyFigures } from "@/panels/run/key-figures";
import { QueryFault } from "@/ui/fault/query-fault";
import { Loading } from "@/ui/loading";
import { LoadingChart } from "@/ui/page/loading-chart";
import { usePageTitle } from "@/ui/page/use-page-title";
import { PageMessage } from "@/ui/page-message";
import { Hint } from "@/ui/text/text";
import { LoadSection } from "../charts/load-section";
import { SystemCharts } from "../charts/system-charts";
import { useRunCharts } from "../charts/use-run-charts";
import { FilesSection } from "../files/files-section";
import { LogSection } from "../log/log-section";
import { ProfilesSection } from "../profiles/profiles-section";
import { Configuration } from "../results/configuration";
import { EndpointTable } from "../results/endpoint-table";
import { ErrorTable } from "../results/error-table";
import { FindingsSection, RunHeadline } from "../results/findings-section";
import { HeadroomReached } from "../results/headroom-reached";
import { RampSection } from "../results/ramp-section";
import { Reconciled } from "../results/reconciled";
import { Remarks } from "../results/remarks";
import { Summary } from "../results/summary";
import { ThresholdTable } from "../results/threshold-table";
import { ReviewSection } from "../review/review-section";
import { WhySection } from "../why/why-section";
import { RunHeader } from "./run-header";
import { RunNav } from "./run-nav";
import classes from "./run-page.module.css";
import { RunProgressPanel } from "./run-progress";

const RUNNING_MS = 2000;
const CALM_MS = 30_000;
/** Of the first chart: with all that stands above it, it fits a screen of 720 pixels. */
const FIRST_CHART = 240;

/** One run with all that is known of it. */
export function RunPage() {
  const { t } = useTranslation();
  const { runId = "" } = useParams();
  const run = useQuery({
    ...runQuery(runId),
    refetchInterval: ({ state: { data } }) =>
      (data?.state === "running" && !data.silent) || data?.reconciliation?.again_ms ? RUNNING_MS : CALM_MS,
  });
  useFollowUp(run.data);
  const name = run.data === undefined ? runId : runTitle(run.data);
  usePageTitle(name);
  if (run.data === undefined) {
    return run.isError ? <NoRun query={run} /> : <Waiting />;
  }
  return (
    <>
      <QueryFault title={t("runs.page.failed")} query={run} />
      {/* A run is a page of its own: nothing typed or zoomed in one may reach the next. */}
      <RunBody key={runId} run={run.data} />
    </>
  );
}

/** When a run ends or its result is imported, all that was read of it before is of another state. */
function useFollowUp(run: Run | undefined): void {
  const client = useQueryClient();
  const id = run?.id;
  const stage = run === undefined ? null : `${run.state} ${run.source?.imported_ms ?? ""}`;
  const seen = useRef(stage);
  useEffect(() => {
    const before = seen.current;
    seen.current = stage;
    if (before === null || stage === null || before === stage || id === undefined) return;
    void client.invalidateQueries({ queryKey: ["runs"] });
    void client.invalidateQueries({ queryKey: ["signals-window"] });
  }, [client, id, stage]);
}

function RunBody({ run }: { run: Run }) {
  const locale = useLocale();
  const running = run.state === "running";
  const charts = useRunCharts(run);
  const shown = running ? null : firstEvidence(run.diagnosis, run.findings);
  const load = <LoadSection run={run} charts={charts} first={shown === null && !running} />;
  useAddressedPart();
  return (
    <div className={classes.page} data-adjusting={charts.edit.draft !== null}>
      <div className={classes.opening} data-verdict={run.verdict ?? "none"}>
        <RunHeader run={run} />
        <RunHeadline run={run} />
        {(!running || run.requests !== null) && <KeyFigures figures={run.key_figures} soFar={running} />}
        {run.own_figures
          .filter(({ detail }) => detail !== "")
          .map((one) => (
            <Hint key={one.name}>
              {one.name}: {detailOf(one, locale)}
            </Hint>
          ))}
      </div>
      {running && <RunProgressPanel run={run} />}
      <RunNav run={run} />
      {shown === null ? load : <FirstChart shown={shown} context={charts.context} height={FIRST_CHART} />}
      <Remarks remarks={run.remarks} />
      {(!running || run.thresholds.length > 0) && (
        <div className={classes.columns}>
          {!running && <HeadroomReached run={run} />}
          <ThresholdTable run={run} />
        </div>
      )}
      <FindingsSection run={run} />
      <WhySection run={run} />
      <div className={classes.columns}>
        {run.requests !== null && <Summary run={run} />}
        {!running && <Reconciled run={run} />}
      </div>
      {!running && hasPools(run) && <PoolsSection run={run.id} />}
      {run.ramp && <RampSection ramp={run.ramp} />}
      {shown !== null && load}
      <WorstInstances value={useWorstOf(run.findings)}>
        <SystemCharts run={run} context={charts.context} />
      </WorstInstances>
      {run.endpoints.length > 0 && <EndpointTable run={run} />}
      {run.errors.length > 0 && <ErrorTable errors={run.errors} />}
      <LogSection run={run} />
      <ProfilesSection run={run} />
      <Configuration run={run} />
      <FilesSection run={run} />
      <ReviewSection run={run} />
      <NotesLayer notes={charts.notes.notes} error={charts.notes.error} onReady={charts.setHandle} />
    </div>
  );
}

/** A pool with a limit is a resource of the run; one without is a finding. */
function hasPools({ resources, findings }: Run): boolean {
  return (
    resources.some(({ resource }) => resource === "pool_connections") ||
    findings.some(({ id }) => id.startsWith("pool-"))
  );
}

function Waiting() {
  const { t } = useTranslation();
  return (
    <div role="status" aria-label={t("runs.page.loading")} className={classes.page}>
      <Loading height={250} />
      <LoadingChart height={320} />
      <div className={classes.columns}>
        <Loading height={240} />
        <Loading height={240} />
      </div>
    </div>
  );
}

function NoRun({ query }: { query: UseQueryResult<Run> }) {
  const { t } = useTranslation();
  const gone = query.error instanceof ApiError && (query.error.status === 404 || query.error.status === 422);
  const toList = (
    <Button component={Link} to="/runs" size="xs" variant="default">
      {t("runs.page.toList")}
    </Button>
  );
  if (!gone) return <QueryFault title={t("runs.page.failed")} query={query} actions={toList} />;
  return (
    <PageMessage icon="search" title={t("runs.page.gone")} role="alert" actions={toList}>
      <p>{t("runs.page.goneHint")}</p>
    </PageMessage>
  );
}
