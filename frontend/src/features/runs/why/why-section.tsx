import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import type { Run } from "@/api/runs/types";
import { CostLead } from "@/panels/cost/cost-lead";
import { CostNotes } from "@/panels/cost/cost-notes";
import { CpuCosts } from "@/panels/cost/cpu-costs";
import { FunctionCosts } from "@/panels/cost/function-costs";
import { hasCosts, missing } from "@/panels/cost/model";
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
  const { cost, routes, statements } = why;
  if (!hasCosts(cost, routes, statements)) return <Missing remarks={missing(cost, routes, statements)} />;
  return (
    <Section
      id="why"
      title={t("cost.title")}
      aside={t(cost.window === "steady" ? "runs.page.overSteady" : "runs.page.overWhole")}
    >
      <CostLead cost={cost} />
      <RouteCosts cost={cost} routes={routes} />
      <StatementCosts cost={cost} statements={statements} />
      <CpuCosts cpu={cost.cpu} />
      <FunctionCosts functions={cost.functions} />
      {cost.functions !== null && (
        <Hint>
          <Link to={`/runs/${run.id}/profiles`}>{t("cost.allProfiles")}</Link>
        </Hint>
      )}
      <CostNotes cost={cost} routes={routes} statements={statements} />
    </Section>
  );
}

/** What would have to be counted to say why; of a run of which nobody counted anything. */
function Missing({ remarks }: { remarks: readonly string[] }) {
  const { t } = useTranslation();
  if (remarks.length === 0) return null;
  return (
    <Section id="why" title={t("cost.title")}>
      <Hint>
        {t("cost.missing")} {remarks.join(" ")}
      </Hint>
    </Section>
  );
}
