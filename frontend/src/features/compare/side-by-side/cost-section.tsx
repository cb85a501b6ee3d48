import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import type { Comparison } from "@/api/compare/types";
import { runCostQuery } from "@/api/runs/queries";
import { CostLead } from "@/panels/cost/cost-lead";
import { CostNotes } from "@/panels/cost/cost-notes";
import { RouteCosts } from "@/panels/cost/route-costs";
import { StatementCosts } from "@/panels/cost/statement-costs";
import { Dim } from "@/ui/text/text";
import classes from "../compare.module.css";

/** Routes and statements of the last run, held against the first. */
export function CostSection({ data }: { data: Comparison }) {
  const { t } = useTranslation();
  const runs = data.groups.flatMap((group) => group.runs);
  const [base, run] = [runs[0] ?? "", runs.at(-1) ?? ""];
  const { data: cost } = useQuery({ ...runCostQuery(run, base), enabled: run !== base });
  if (cost === undefined || (cost.routes.length === 0 && cost.statements.length === 0)) return null;
  return (
    <section aria-labelledby="compare-cost">
      <div className={classes.sectionHead}>
        <h2 id="compare-cost">{t("cost.title")}</h2>
        <Dim>{t(cost.window === "steady" ? "runs.page.overSteady" : "runs.page.overWhole")}</Dim>
      </div>
      <CostLead cost={cost} />
      <RouteCosts cost={cost} />
      <StatementCosts cost={cost} />
      <CostNotes cost={cost} />
    </section>
  );
}
