import { useQuery } from "@tanstack/react-query";
import { runCostQuery } from "@/api/runs/queries";
import type { Cost, Run } from "@/api/runs/types";

/** What the run's requests cost; nothing while it is under way, and where nobody counted requests or statements. */
export function useRunCost(run: Run): Cost | undefined {
  const { data } = useQuery({ ...runCostQuery(run.id), enabled: run.state !== "running" });
  return data === undefined || (data.routes.length === 0 && data.statements.length === 0) ? undefined : data;
}
