import { useQuery } from "@tanstack/react-query";
import { useCallback } from "react";
import { metricsQuery, scenarioRunsQuery } from "@/api/compare/queries";
import { runFacetsQuery } from "@/api/runs/queries";
import { useLocale } from "@/lib/use-locale";
import { useParams, withParams } from "@/lib/use-params";

/** Reads and writes parameters of the address; null takes one away. */
export function useAddress() {
  const [params, edit] = useParams();
  const change = useCallback(
    (part: Readonly<Record<string, string | null>>) => edit((held) => withParams(held, part), true),
    [edit],
  );
  return [params, change] as const;
}

/** The scenario that the address names, else the one with the most runs, and what is known of it. */
export function useScenario(named: string | null) {
  const facets = useQuery(runFacetsQuery);
  const metrics = useQuery(metricsQuery(useLocale()));
  const scenarios = (facets.data?.scenarios ?? []).filter(({ value }) => value !== "");
  const most = [...scenarios].sort((a, b) => b.count - a.count)[0];
  const scenario = named ?? most?.value ?? null;
  const runs = useQuery({ ...scenarioRunsQuery(scenario ?? ""), enabled: scenario !== null });
  const failed = [facets, metrics, runs].find(({ isError }) => isError);
  return {
    scenario,
    scenarios,
    metrics: metrics.data?.metrics ?? [],
    runs: runs.data?.runs ?? [],
    pending: facets.isPending || metrics.isPending || (scenario !== null && runs.isPending),
    failed,
  };
}
