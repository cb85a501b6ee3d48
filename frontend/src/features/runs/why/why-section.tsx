import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import type { Run } from "@/api/runs/types";
import { CostLead } from "@/panels/cost/cost-lead";
import { CostNotes } from "@/panels/cost/cost-notes";
import { FunctionCosts } from "@/panels/cost/function-costs";
import { RouteCosts } from "@/panels/cost/route-costs";
import { StatementCosts } from "@/panels/cost/statement-costs";
import { Section } from "@/ui/page/section";
import { Hint } from "@/ui/text/text";
import { useWhy } from "./use-why";

/** Routes, and the statements that their requests ask: why the run was as slow as it was. */
export function WhySection({ run }: { run: Run }) {
  const { t } = useTranslation();
  const why = useWhy(run);
  if (why === undefined) return null;
  const { cost, routes } = why;
  return (
    <Section
      id="why"
      title={t("cost.title")}
      aside={t(cost.window === "steady" ? "runs.page.overSteady" : "runs.page.overWhole")}
    >
      <CostLead cost={cost} />
      <RouteCosts cost={cost} routes={routes} />
      <StatementCosts cost={cost} />
      <FunctionCosts functions={cost.functions} />
      {cost.functions !== null && (
        <Hint>
          <Link to={`/runs/${run.id}/profiles`}>{t("cost.allProfiles")}</Link>
        </Hint>
      )}
      <CostNotes cost={cost} routes={routes} />
    </Section>
  );
}
