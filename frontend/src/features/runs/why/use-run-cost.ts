import { useQuery } from "@tanstack/react-query";
import { runCostQuery } from "@/api/runs/queries";
import type { Cost, Run } from "@/api/runs/types";
import { useLocale } from "@/lib/use-locale";
import { hasCosts } from "@/panels/cost/model";

/** What the run's requests cost; nothing while it is under way, and where nothing was counted or profiled. */
export function useRunCost(run: Run): Cost | undefined {
  const { data } = useQuery({ ...runCostQuery(run.id, useLocale()), enabled: run.state !== "running" });
  return data !== undefined && hasCosts(data) ? data : undefined;
}
