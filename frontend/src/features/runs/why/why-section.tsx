import { useTranslation } from "react-i18next";
import type { Run } from "@/api/runs/types";
import { CostLead } from "@/panels/cost/cost-lead";
import { CostNotes } from "@/panels/cost/cost-notes";
import { RouteCosts } from "@/panels/cost/route-costs";
import { StatementCosts } from "@/panels/cost/statement-costs";
import { Section } from "@/ui/page/section";
import { FunctionShares } from "./function-shares";
import { useRunCost } from "./use-run-cost";

/** Routes, and the statements that their requests ask: why the run was as slow as it was. */
export function WhySection({ run }: { run: Run }) {
  const { t } = useTranslation();
  const cost = useRunCost(run);
  if (cost === undefined) return null;
  return (
    <Section
      id="why"
      title={t("cost.title")}
      aside={t(cost.window === "steady" ? "runs.page.overSteady" : "runs.page.overWhole")}
    >
      <CostLead cost={cost} />
      <RouteCosts cost={cost} />
      <StatementCosts cost={cost} />
      <FunctionShares run={run} />
      <CostNotes cost={cost} />
    </Section>
  );
}
