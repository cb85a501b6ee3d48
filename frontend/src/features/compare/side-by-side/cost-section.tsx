import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import type { Comparison } from "@/api/compare/types";
import { runCostQuery, runRoutesQuery, runStatementsQuery } from "@/api/runs/queries";
import { useLocale } from "@/lib/use-locale";
import { CostLead } from "@/panels/cost/cost-lead";
import { CostNotes } from "@/panels/cost/cost-notes";
import { FunctionCosts } from "@/panels/cost/function-costs";
import { hasCosts } from "@/panels/cost/model";
import { RouteCosts } from "@/panels/cost/route-costs";
import { StatementCosts } from "@/panels/cost/statement-costs";
import { Dim } from "@/ui/text/text";
import classes from "../compare.module.css";

/** Routes, statements and functions of the last run, held against the first. */
export function CostSection({ data }: { data: Comparison }) {
  const { t } = useTranslation();
  const runs = data.groups.flatMap((group) => group.runs);
  const [base, run] = [runs[0] ?? "", runs.at(-1) ?? ""];
  const locale = useLocale();
  const enabled = run !== base;
  const { data: cost } = useQuery({ ...runCostQuery(run, locale, base), enabled });
  const { data: routes } = useQuery({ ...runRoutesQuery(run, locale, base), enabled });
  const { data: statements } = useQuery({ ...runStatementsQuery(run, locale, base), enabled });
  if (cost === undefined || !hasCosts(cost, routes, statements)) return null;
  return (
    <section aria-labelledby="compare-cost">
      <div className={classes.sectionHead}>
        <h2 id="compare-cost">{t("cost.title")}</h2>
        <Dim>{t(cost.window === "steady" ? "runs.page.overSteady" : "runs.page.overWhole")}</Dim>
      </div>
      <CostLead cost={cost} />
      <RouteCosts cost={cost} routes={routes} />
      <StatementCosts cost={cost} statements={statements} />
      <FunctionCosts functions={cost.functions} />
      <CostNotes cost={cost} routes={routes} statements={statements} />
    </section>
  );
}
