import { useQuery } from "@tanstack/react-query";
import { runCostQuery, runRoutesQuery, runStatementsQuery } from "@/api/runs/queries";
import type { Cost, Run, RunRoutes, RunStatements } from "@/api/runs/types";
import { useLocale } from "@/lib/use-locale";

interface Why {
  readonly cost: Cost;
  readonly routes: RunRoutes | undefined;
  readonly statements: RunStatements | undefined;
}

/** What the run's requests cost; nothing while it is under way, and until all of it is known or failed. */
export function useWhy(run: Run): Why | undefined {
  const locale = useLocale();
  const enabled = run.state !== "running";
  const { data: cost } = useQuery({ ...runCostQuery(run.id, locale), enabled });
  const { data: routes, isPending: counting } = useQuery({ ...runRoutesQuery(run.id, locale), enabled });
  const { data: statements, isPending: asking } = useQuery({ ...runStatementsQuery(run.id, locale), enabled });
  return cost === undefined || counting || asking ? undefined : { cost, routes, statements };
}
