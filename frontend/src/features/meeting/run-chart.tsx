import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { runSecondsQuery } from "@/api/runs/queries";
import { firstEvidence } from "@/panels/findings/model";
import { useNotes } from "@/panels/notes/use-notes";
import { aroundRun } from "@/panels/run/around";
import type { ChartContext } from "@/panels/run/chart-context";
import { FirstChart } from "@/panels/run/first-chart";
import { LoadCharts } from "@/panels/run/load-charts";
import type { Run } from "./headline";

const HEIGHT = 260;
const POINTS = 600;
const WITHOUT_FINDING = ["rate", "latency"] as const;

/** The chart of what ran out first; where nothing did, requests and latency. */
export function RunChart({ run }: { run: Run }) {
  const shown = firstEvidence(run.diagnosis, run.findings);
  const seconds = useQuery({ ...runSecondsQuery(run.id, POINTS), enabled: shown === null && run.requests !== null });
  const endMs = run.ended_ms ?? run.updated_ms;
  const running = run.state === "running";
  const range = useMemo(() => aroundRun(run.started_ms, endMs, running), [run.started_ms, endMs, running]);
  const { marks } = useNotes(range);
  const context = useMemo((): ChartContext => ({ range, bands: [], notes: marks }), [range, marks]);
  if (shown !== null) return <FirstChart shown={shown} context={context} height={HEIGHT} />;
  return <LoadCharts run={run} seconds={seconds} context={context} only={WITHOUT_FINDING} />;
}
