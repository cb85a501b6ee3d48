import { useQuery } from "@tanstack/react-query";
import { runCostQuery, runRoutesQuery } from "@/api/runs/queries";
import type { Cost, Run, RunRoutes } from "@/api/runs/types";
import { useLocale } from "@/lib/use-locale";
import { hasCosts } from "@/panels/cost/model";

interface Why {
  readonly cost: Cost;
  readonly routes: RunRoutes | undefined;
}

/** What the run's requests cost; nothing while it is under way, and where nothing was counted or profiled. */
export function useWhy(run: Run): Why | undefined {
  const locale = useLocale();
  const enabled = run.state !== "running";
  const { data: cost } = useQuery({ ...runCostQuery(run.id, locale), enabled });
  const { data: routes } = useQuery({ ...runRoutesQuery(run.id, locale), enabled });
  return cost !== undefined && hasCosts(cost, routes) ? { cost, routes } : undefined;
}
